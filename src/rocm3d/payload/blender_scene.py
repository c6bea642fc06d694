"""Creates a Blender scene. Runs in a Python that has `bpy`, or in Blender itself.

    python blender_scene.py REQUEST.json          blender --background --python blender_scene.py -- REQUEST.json

The request has GLB files and arrays of Gaussians or points, each with its placement matrix, the camera, and the file to
write. The last line of the output is a JSON object with the result.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MARK = "rocm3d-scene "
# Reverts Blender's rotation of an imported GLB from y up to z up.
BACK = ((1, 0, 0, 0), (0, 0, 1, 0), (0, -1, 0, 0), (0, 0, 0, 1))


def make(request: dict[str, Any]) -> dict[str, Any]:
    """Create and save the scene; returns a summary."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    done = [_add(item) for item in request["items"]]
    _light()
    _aim(request["camera"], request["size"])
    device, names = _device(request.get("kinds", []))
    _settings(request)
    bpy.ops.file.pack_all()
    bpy.ops.wm.save_as_mainfile(filepath=request["out"], check_existing=False)
    if request.get("render"):
        bpy.context.scene.render.filepath = request["render"]
        bpy.ops.render.render(write_still=True)
    return {"blender": bpy.app.version_string, "device": device, "devices": names, "items": done}


def _add(item: dict[str, Any]) -> dict[str, Any]:
    """Add one artifact below an empty object that has its placement matrix."""
    import bpy
    from mathutils import Matrix

    holder = bpy.data.objects.new(item["name"], None)
    bpy.context.scene.collection.objects.link(holder)
    matrix = Matrix(item["matrix"])
    if item["kind"] == "mesh":
        before = set(bpy.data.objects)
        bpy.ops.import_scene.gltf(filepath=item["file"])
        new = [candidate for candidate in bpy.data.objects if candidate not in before]
        holder.matrix_world = matrix @ Matrix(BACK)
        for scene_object in new:
            if scene_object.parent is None:
                scene_object.parent = holder
        faces = sum(len(mesh.data.polygons) for mesh in new if mesh.type == "MESH")
        return {"name": item["name"], "as": "mesh", "faces": faces}
    holder.matrix_world = matrix
    count = _ellipsoids(item, holder)
    return {"name": item["name"], "as": "ellipsoids", "instances": count}


def _ellipsoids(item: dict[str, Any], holder: Any) -> int:
    """Points with size, rotation and colour attributes; geometry nodes put a sphere on each."""
    import bpy
    import numpy

    with numpy.load(item["file"], allow_pickle=False) as held:
        arrays = {name: numpy.ascontiguousarray(held[name], dtype=numpy.float32) for name in held.files}
    count = len(arrays["centres"])
    mesh = bpy.data.meshes.new(item["name"])
    mesh.vertices.add(count)
    mesh.vertices.foreach_set("co", arrays["centres"].ravel())
    for name, kind, field in (
        ("size", "FLOAT_VECTOR", "vector"), ("turn", "QUATERNION", "value"), ("shade", "FLOAT_COLOR", "color"),
    ):  # fmt: skip
        mesh.attributes.new(name, kind, "POINT").data.foreach_set(field, arrays[name].ravel())
    mesh.update()
    thing = bpy.data.objects.new(item["name"], mesh)
    bpy.context.scene.collection.objects.link(thing)
    thing.parent = holder
    thing.modifiers.new("ellipsoids", "NODES").node_group = _nodes(_material())
    return count


def _nodes(material: Any) -> Any:
    """Geometry nodes: instance a sphere on each point, with its size and rotation."""
    import bpy

    group = bpy.data.node_groups.new("ellipsoids", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        group.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    start, end = nodes.new("NodeGroupInput"), nodes.new("NodeGroupOutput")
    points, ball = nodes.new("GeometryNodeMeshToPoints"), nodes.new("GeometryNodeMeshIcoSphere")
    ball.inputs["Radius"].default_value, ball.inputs["Subdivisions"].default_value = 1.0, 2
    dressed, placed = nodes.new("GeometryNodeSetMaterial"), nodes.new("GeometryNodeInstanceOnPoints")
    dressed.inputs["Material"].default_value = material
    size, turn = nodes.new("GeometryNodeInputNamedAttribute"), nodes.new("GeometryNodeInputNamedAttribute")
    size.data_type, turn.data_type = "FLOAT_VECTOR", "QUATERNION"
    size.inputs["Name"].default_value, turn.inputs["Name"].default_value = "size", "turn"
    links.new(start.outputs[0], points.inputs["Mesh"])
    links.new(points.outputs[0], placed.inputs["Points"])
    links.new(ball.outputs["Mesh"], dressed.inputs["Geometry"])
    links.new(dressed.outputs[0], placed.inputs["Instance"])
    links.new(size.outputs["Attribute"], placed.inputs["Scale"])
    links.new(turn.outputs["Attribute"], placed.inputs["Rotation"])
    links.new(placed.outputs[0], end.inputs[0])
    return group


def _material() -> Any:
    """Emits the colour of the instance: the colours of Gaussians already contain the light of the scene."""
    import bpy

    material = bpy.data.materials.new("shade")
    material.use_nodes = True
    nodes, links = material.node_tree.nodes, material.node_tree.links
    nodes.clear()
    colour, glow, end = (nodes.new(f"ShaderNode{name}") for name in ("Attribute", "Emission", "OutputMaterial"))
    colour.attribute_type, colour.attribute_name = "INSTANCER", "shade"
    links.new(colour.outputs["Color"], glow.inputs["Color"])
    links.new(glow.outputs[0], end.inputs["Surface"])
    return material


def _light() -> None:
    import bpy

    sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    sun.data.energy = 2.5
    sun.rotation_euler = (0.7, -0.3, 0.0)
    bpy.context.scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    ground = world.node_tree.nodes["Background"]
    ground.inputs["Color"].default_value, ground.inputs["Strength"].default_value = (0.9, 0.92, 1.0, 1.0), 0.6
    bpy.context.scene.world = world


def _aim(asked: dict[str, Any], size: list[int]) -> None:
    """`rotation` has the camera's right, up and back vectors as columns, like Blender's camera matrix."""
    import bpy
    from mathutils import Matrix

    lens = bpy.data.cameras.new("camera")
    lens.sensor_fit, lens.angle_y = "VERTICAL", asked["field"]
    camera = bpy.data.objects.new("camera", lens)
    matrix = Matrix(asked["rotation"]).to_4x4()
    matrix.translation = asked["position"]
    camera.matrix_world = matrix
    bpy.context.scene.collection.objects.link(camera)
    scene = bpy.context.scene
    scene.camera = camera
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *size, 100


def _device(kinds: list[str]) -> tuple[str, list[str]]:
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
        mine = [device for device in settings.devices if device.type == kind]
        if mine:
            for device in settings.devices:
                device.use = device.type == kind
            scene.cycles.device = "GPU"
            return kind, [device.name for device in mine]
    settings.compute_device_type, scene.cycles.device = "NONE", "CPU"
    return "CPU", []


def _settings(request: dict[str, Any]) -> None:
    """Standard view transform, so that colours stay as in the file, and a transparent background."""
    import bpy

    scene = bpy.context.scene
    scene.view_settings.view_transform = "Standard"
    scene.render.film_transparent = True
    scene.cycles.samples = request.get("samples", 64)


if __name__ == "__main__":
    with open(sys.argv[-1], encoding="utf-8") as file:  # noqa: PTH123
        told = make(json.load(file))
    print(f"\n{MARK}{json.dumps(told)}", flush=True)  # noqa: T201
