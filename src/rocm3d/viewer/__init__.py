"""Looking at splats, meshes and point clouds: in the browser, as a picture, and as a Blender scene."""
