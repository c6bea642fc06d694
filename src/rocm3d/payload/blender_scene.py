"""Creates a Blender scene. Runs in a Python that has `bpy`, or in Blender itself.

    python blender_scene.py REQUEST.json          blender --background --python blender_scene.py -- REQUEST.json

The request has GLB files and arrays of Gaussians or points, each with its placement matrix, the camera, and the file to
write. The last line of the output is a JSON object with the result.
"""

from __future__ import annotations

import json
import sys
from typing import Any

RESULT_PREFIX = "rocm3d-scene "
# Reverts Blender's rotation of an imported GLB from y up to z up.
Z_UP_TO_Y_UP = ((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1))


def create_scene(request: dict[str, Any]) -> dict[str, Any]:
    """Create and save the scene; returns a summary."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    done = [_add_artifact(artifact) for artifact in request["items"]]
    _add_light()
    _add_camera(request["camera"], request["size"])
    device, names = _select_device(request.get("kinds", []))
    _set_render_settings(request)
    bpy.ops.file.pack_all()
    bpy.ops.wm.save_as_mainfile(filepath=request["out"], check_existing=False)
    if request.get("render"):
        bpy.context.scene.render.filepath = request["render"]
        bpy.ops.render.render(write_still=True)
    return {"blender": bpy.app.version_string, "device": device, "devices": names, "items": done}


def _add_artifact(artifact: dict[str, Any]) -> dict[str, Any]:
    """Add one artifact below an empty object that has its placement matrix."""
    import bpy
    from mathutils import Matrix

    parent = bpy.data.objects.new(artifact["name"], None)
    bpy.context.scene.collection.objects.link(parent)
    matrix = Matrix(artifact["matrix"])
    if artifact["kind"] == "mesh":
        before = set(bpy.data.objects)
        bpy.ops.import_scene.gltf(filepath=artifact["file"])
        imported = [candidate for candidate in bpy.data.objects if candidate not in before]
        parent.matrix_world = matrix @ Matrix(Z_UP_TO_Y_UP)
        for scene_object in imported:
            if scene_object.parent is None:
                scene_object.parent = parent
        faces = sum(len(mesh.data.polygons) for mesh in imported if mesh.type == "MESH")
        return {"name": artifact["name"], "as": "mesh", "faces": faces}
    parent.matrix_world = matrix
    count = _add_ellipsoids(artifact, parent)
    return {"name": artifact["name"], "as": "ellipsoids", "instances": count}


def _add_ellipsoids(artifact: dict[str, Any], parent: Any) -> int:
    """Points with size, rotation and colour attributes; geometry nodes put a sphere on each."""
    import bpy
    import numpy

    with numpy.load(artifact["file"], allow_pickle=False) as file_arrays:
        arrays = {name: numpy.ascontiguousarray(file_arrays[name], dtype=numpy.float32) for name in file_arrays.files}
    count = len(arrays["centres"])
    mesh = bpy.data.meshes.new(artifact["name"])
    mesh.vertices.add(count)
    mesh.vertices.foreach_set("co", arrays["centres"].ravel())
    for name, kind, field in (
        ("size", "FLOAT_VECTOR", "vector"), ("turn", "QUATERNION", "value"), ("shade", "FLOAT_COLOR", "color"),
    ):  # fmt: skip
        mesh.attributes.new(name, kind, "POINT").data.foreach_set(field, arrays[name].ravel())
    mesh.update()
    points = bpy.data.objects.new(artifact["name"], mesh)
    bpy.context.scene.collection.objects.link(points)
    points.parent = parent
    points.modifiers.new("ellipsoids", "NODES").node_group = _ellipsoid_nodes(_material())
    return count


def _ellipsoid_nodes(material: Any) -> Any:
    """Geometry nodes: instance a sphere on each point, with its size and rotation."""
    import bpy

    group = bpy.data.node_groups.new("ellipsoids", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    points, sphere = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeMeshIcoSphere")
    sphere.inputs["Radius"].default_value, sphere.inputs["Subdivisions"].default_value = 1.0, 2
    with_material, instances = nodes.new("GeometryNodeSetMaterial"), nodes.new("GeometryNodeInstanceOnPoints")
    with_material.inputs["Material"].default_value = material
    size, rotation = nodes.new("GeometryNodeInputNamedAttribute"), nodes.new("GeometryNodeInputNamedAttribute")
    size.data_type, rotation.data_type = "FLOAT_VECTOR", "QUATERNION"
    size.inputs["Name"].default_value, rotation.inputs["Name"].default_value = "size", "turn"
    links.new(start.outputs[0], points.inputs["Mesh"])
    links.new(points.outputs[0], instances.inputs["Points"])
    links.new(sphere.outputs["Mesh"], with_material.inputs["Geometry"])
    links.new(with_material.outputs[0], instances.inputs["Instance"])
    links.new(size.outputs["Attribute"], instances.inputs["Scale"])
    links.new(rotation.outputs["Attribute"], instances.inputs["Rotation"])
    links.new(instances.outputs[0], end.inputs[0])
    return group


def _material() -> Any:
    """Emits the colour of the instance: the colours of Gaussians already contain the light of the scene."""
    import bpy

    material = bpy.data.materials.new("shade")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    color, emission, end = (nodes.new(f"ShaderNode{name}") for name in ("Attribute", "Emission", "OutputMaterial"))
    color.attribute_type, color.attribute_name = "INSTANCER", "shade"
    links.new(color.outputs["Color"], emission.inputs["Color"])
    links.new(emission.outputs[0], end.inputs["Surface"])
    return material


def _add_light() -> None:
    import bpy

    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 2.5
    sun.rotation_euler = (0.7, -0.3, 0.0)
    bpy.context.scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    background = world.node_tree.nodes["Background"]
    background.inputs["Color"].default_value, background.inputs["Strength"].default_value = (0.9, 0.92, 1.0, 1.0), 0.6
    bpy.context.scene.world = world


def _add_camera(settings: dict[str, Any], size: list[int]) -> None:
    """`rotation` has the camera's right, up and back vectors as columns, like Blender's camera matrix."""
    import bpy
    from mathutils import Matrix

    lens = bpy.data.cameras.new("camera")
    lens.sensor_fit, lens.angle_y = "VERTICAL", settings["field"]
    camera = bpy.data.objects.new("camera", lens)
    matrix = Matrix(settings["rotation"]).to_4x4()
    matrix.translation = settings["position"]
    camera.matrix_world = matrix
    bpy.context.scene.collection.objects.link(camera)
    scene = bpy.context.scene
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *size, 100


def _select_device(kinds: list[str]) -> tuple[str, list[str]]:
    """Select the first requested kind of GPU that Cycles finds, else the CPU."""
    import bpy

    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    settings = bpy.context.preferences.addons["cycles"].preferences
    offered = {kind[0] for kind in settings.get_device_types(bpy.context)}
    for kind in kinds:
        if kind not in offered:
            continue
        settings.compute_device_type = kind
        settings.refresh_devices()
        matching = [device for device in settings.devices if device.type == kind]
        if matching:
            for device in settings.devices:
                device.use = device.type == kind
            scene.cycles.device = "GPU"
            return kind, [device.name for device in matching]
    settings.compute_device_type, scene.cycles.device = "NONE", "CPU"
    return "CPU", []


def _set_render_settings(request: dict[str, Any]) -> None:
    """Standard view transform, so that colours stay as in the file, and a transparent background."""
    import bpy

    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"
    scene.render.film_transparent = True
    scene.cycles.samples = request.get("samples", 64)


if __name__ == "__main__":
    with open(sys.argv[-1], encoding="utf-8") as file:  # noqa: PTH123
        result = create_scene(json.load(file))
    print(f"\n{RESULT_PREFIX}{json.dumps(result)}", flush=True)  # noqa: T201
