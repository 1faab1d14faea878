"""Compiled kernels for scoring large inputs, stored on disk so that Numba is imported only to make them.

Importing Numba takes longer than scoring thousands of sentences. So the functions of a kernel module are compiled once, in a
process of their own at low priority, while the caller continues without them. Their object code is stored together with its
SHA-256; from then on LLVM's loader (llvmlite) alone maps it into the process. A file that was made by other versions, on another
processor or from other sources is ignored; a damaged one is removed with a warning, and made anew. A kernel only saves time:
without it the NumPy code gives the same result.

The environment variable ``TREEGAUGE_KERNELS`` changes this: ``never`` uses no kernels, ``now`` waits for the compiler. An
administrator can compile all kernels in advance with ``python -m treegauge.compiled``.

A kernel module has functions of arrays and integers, and a table ``KERNELS`` of their Numba signatures.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from treegauge.compilation import DamagedKernelCache

_SEAL = hashlib.sha256().digest_size
_PACKAGE = Path(__file__).parent
_MODES = ("background", "never", "now")

_MODULES = ("treegauge.io.scan_kernels", "treegauge.metrics.count_kernels")

Kernel = Callable[..., int]


class Kernels:
    """The compiled functions of a module, by name; they run without the interpreter's lock."""

    def __init__(self, functions: Mapping[str, Kernel], engine: object) -> None:
        self._functions, self._engine = functions, engine  # the engine owns the code

    def __getitem__(self, name: str) -> Kernel:
        return self._functions[name]


def requested_mode() -> str:
    """The mode set in the environment: ``background``, ``never`` or ``now``; any other value means ``background``."""
    asked = os.environ.get("TREEGAUGE_KERNELS", "")
    return asked if asked in _MODES else "background"


_loaded: dict[str, Kernels] = {}
_asked: set[str] = set()
_lock = threading.Lock()


def kernels(module: str) -> Kernels | None:
    """The compiled functions of a kernel module; None if there are none, or none yet."""
    with _lock:
        return _find_kernels(module, requested_mode())


def load_ahead() -> None:
    """Start to load the kernels in a thread of their own; LLVM's loader mostly runs without the interpreter's lock."""
    threading.Thread(target=_load_all).start()


def _load_all() -> None:
    # A later call of kernels() raises the same error, where it can be reported.
    with suppress(Exception):
        for module in _MODULES:
            kernels(module)


def _find_kernels(module: str, mode: str) -> Kernels | None:
    """The compiled functions of a module, loaded or, if the mode asks for it, compiled; None if there are none yet."""
    if mode == "never":
        return None
    if module not in _loaded:
        path = _object_file(module)
        if path is None:
            return None
        found = _load(path)
        if found is None and module not in _asked:
            _asked.add(module)
            _compile_elsewhere(module, wait=mode == "now")
            found = _load(path) if mode == "now" else None
        if found is None:
            return None
        _loaded[module] = found
    return _loaded[module]


def compile_module(module: str) -> None:
    """Compile a kernel module and store the object code, unless it is stored already."""
    path = _object_file(module)
    if path is not None and _read_sealed(path) is None:
        _write_sealed(path, _object_code(importlib.import_module(module)))


def _compile_elsewhere(module: str, *, wait: bool) -> None:
    """Compile in a process of its own, which continues even if this one ends first."""
    program = f"import os; getattr(os, 'nice', int)(10); from treegauge.compiled import compile_module; compile_module({module!r})"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(_PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    quiet = subprocess.DEVNULL
    try:
        child = subprocess.Popen(
            [sys.executable, "-c", program], stdin=quiet, stdout=quiet, stderr=quiet, env=environment, start_new_session=True
        )
    except OSError:
        return
    if wait:
        child.wait()
    else:
        # Nothing waits for this process; with a return code set, Python does not warn about it at the end.
        child.returncode = 0


@cache
def _object_file(module: str) -> Path | None:
    """The file of a module's object code, named by a hash of its sources, of the versions and of the processor.

    None if Numba is not installed, or no folder can be written to.
    """
    try:
        return _file_for(module)
    except (ImportError, OSError):
        return None


def _file_for(module: str) -> Path | None:
    llvm: Any = importlib.import_module("llvmlite.binding")
    processor = str(llvm.get_host_cpu_name()), str(llvm.get_host_cpu_features().flatten())
    made_of = [sys.version, str(llvm.get_process_triple()), *processor]
    # The versions of Numba and llvmlite are read from their files: importing Numba for its version would take too long.
    versions = [_source(package).with_name("_version.py") for package in ("numba", "llvmlite")]
    sources = [*versions, _source(module), Path(__file__)]
    texts = [path.read_bytes() for path in sources]
    digest = hashlib.sha256(b"\0".join([*(text.encode() for text in made_of), *texts])).hexdigest()[:24]
    folder = _folder()
    return None if folder is None else folder / f"{module.rpartition('.')[2]}-{digest}.kernels"


def _source(module: str) -> Path:
    """The file of a module."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(module)
    return Path(found.origin)


def _folder() -> Path | None:
    """The folder that Numba is told to use, else the package's own or the user's cache; None if none can be written to."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for folder in [Path(given)] if given else [_PACKAGE / "__pycache__", Path(caches) / "treegauge"]:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        return folder
    return None


def _write_sealed(path: Path, content: bytes) -> None:
    """Write a content after its SHA-256; the file appears whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(hashlib.sha256(content).digest() + content)
    os.replace(file.name, path)


def _read_sealed(path: Path) -> bytes | None:
    """The content of a file written by :func:`_write_sealed`; None if there is no such file, or it was changed and is removed."""
    try:
        stored = path.read_bytes()
    except OSError:
        return None
    content = stored[_SEAL:]
    if stored[:_SEAL] == hashlib.sha256(content).digest():
        return content
    message = f"a stored kernel is damaged ({path.name}); it is thrown away and compiled again"
    warnings.warn(message, DamagedKernelCache, stacklevel=2)
    with suppress(OSError):
        path.unlink()
    return None


def _object_code(module: ModuleType) -> bytes:
    """The object code of all kernels of a module, after a line of JSON with the symbol and size of each."""
    numba: Any = importlib.import_module("numba")
    importlib.import_module("numba.extending")
    options = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    names: Mapping[str, str] = module.KERNELS
    helpers = _instructions(numba) | {
        name: numba.njit(forceinline=True, **options)(value)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and name not in (*names, *_INSTRUCTIONS)
    }
    # Kernels call the compiled helpers by their names in the module.
    scope = {**vars(module), **helpers}
    vars(module).update(helpers)
    head: dict[str, Any] = {}
    objects: list[bytes] = []
    for name, signature in names.items():
        function: FunctionType = getattr(module, name)
        compiled = numba.njit(signature, **options)(FunctionType(function.__code__, scope, name))
        made = compiled.overloads[compiled.signatures[0]]
        code: bytes = made.library.serialize_using_object_code()[2][0]
        head[name] = {"symbol": made.fndesc.llvm_func_name, "bytes": len(code)}
        objects.append(code)
    return b"\n".join([json.dumps(head).encode(), b"".join(objects)])


_INSTRUCTIONS = ("load_word", "prefetch", "trailing_zeros")
"""The functions whose Python code is for readers and tests only: compiled, each is one instruction."""


def _instructions(numba: Any) -> dict[str, Any]:
    """The instructions that Numba itself does not offer, as functions for kernels."""
    ir: Any = importlib.import_module("llvmlite.ir")
    word = ir.IntType(64)

    def load_word(context: Any, text: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            address = builder.gep(array.data, [arguments[1]])
            return builder.load(builder.bitcast(address, word.as_pointer()), align=1)

        return numba.uint64(text, numba.int64), code

    def trailing_zeros(context: Any, value: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return numba.uint64(numba.uint64), code

    def prefetch(context: Any, table: Any, row: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            columns = builder.extract_value(array.shape, 1)
            address = builder.gep(array.data, [builder.mul(arguments[1], columns)])
            byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
            function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            # The flags: for reading, keep in all caches, data (not instructions).
            builder.call(function, [builder.bitcast(address, byte), flag(0), flag(3), flag(1)])
            return context.get_constant(numba.int64, 0)

        return numba.int64(table, numba.int64), code

    intrinsic = numba.extending.intrinsic
    return {name: intrinsic(made) for name, made in zip(_INSTRUCTIONS, (load_word, prefetch, trailing_zeros), strict=True)}


def _load(path: Path) -> Kernels | None:
    """The functions of a stored file, ready to be called; None if there is no such file."""
    content = _read_sealed(path)
    if content is None:
        return None
    llvm: Any = importlib.import_module("llvmlite.binding")
    line, _, code = content.partition(b"\n")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    head: dict[str, dict[str, Any]] = json.loads(line)
    used = 0
    for found in head.values():
        engine.add_object_file(llvm.ObjectFileRef.from_data(code[used : used + found["bytes"]]))
        used += found["bytes"]
    engine.finalize_object()
    return Kernels({name: _callable(engine.get_function_address(found["symbol"])) for name, found in head.items()}, engine)


def _callable(address: int) -> Kernel:
    """A Python function of arrays and integers that calls the compiled function at an address.

    It follows Numba's calling convention: a pointer to the result, one to an exception (kernels raise none), and for each array
    seven or more numbers: its owner and parent (none), number of items, bytes of an item, address, shape and strides.
    """
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int32)(address)
    function.argtypes = None

    def call(*values: Any) -> int:
        result, exception = ctypes.c_int64(0), ctypes.c_void_p(0)
        words: list[Any] = [ctypes.byref(result), ctypes.byref(exception)]
        for value in values:
            if isinstance(value, int):
                words.append(ctypes.c_int64(value))
            else:
                items: tuple[int, ...] = (0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
                words += map(ctypes.c_int64, items)
        if function(*words):
            raise AssertionError("a kernel failed, which none can")
        return result.value

    return call


if __name__ == "__main__":
    for name in _MODULES:
        compile_module(name)
