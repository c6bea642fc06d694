"""Shows splats, meshes and point clouds: in the browser, as a PNG, or as a Blender scene."""
