// Run tests/sim inside Pyodide: `node tests/tools/pyodide_sim.mjs .venv/bin/python [pytest arguments]`.
//
// Why it exists: readers' numbers come from CPython in WebAssembly, a newer Python with another C library than the one
// that builds the site. The very tests that hold for `sim` here have to hold there.
//
// Must not know: what the tests say. It brings pytest and Hypothesis (pure wheels, by pip) into the interpreter's file
// system, mounts the repository, plugs the kernel in as the worker does, and passes on pytest's exit code.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const [python = "python3", ...asked] = process.argv.slice(2);
const needed = ["pytest", "hypothesis", "sortedcontainers", "iniconfig", "pluggy", "packaging", "pygments"];

/** Folder of pure wheels; pip fetches them again only when constraints.txt changed. */
function wheels() {
  const folder = join(root, "build", "pyodide-test-wheels");
  const done = join(folder, ".done");
  const lock = join(root, "constraints.txt");
  if (!existsSync(done) || statSync(done).mtimeMs < statSync(lock).mtimeMs) {
    mkdirSync(folder, { recursive: true });
    const pip = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
    const target = ["--python-version", "3.14", "--implementation", "py", "--abi", "none", "--platform", "any"];
    execFileSync(python, [...pip, ...target, "-c", lock, "-d", folder, ...needed], { stdio: "inherit" });
    writeFileSync(done, "");
  }
  return readdirSync(folder).filter((name) => name.endsWith(".whl")).map((name) => join(folder, name));
}

/** Where `python -m widgets assets` put the NumPy wheel, if it did. */
function live() {
  const folder = join(root, "docs", "assets", "live");
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => join(folder, name)).find((path) => existsSync(join(path, "assets.json")));
}

// Node prints the failing source line, which is the whole minified interpreter: the message alone says more.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
const { loadPyodide } = await import("pyodide");
const folder = live();
const pyodide = await loadPyodide({
  env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1", SIM_EXAMPLES: process.env.SIM_EXAMPLES ?? "5", COLUMNS: "110" },
  ...(folder ? { packageCacheDir: folder } : {}),
});
const extractDir = pyodide.runPython("import site; site.getsitepackages()[0]");
for (const wheel of wheels()) pyodide.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir });
if (folder) await pyodide.loadPackage("numpy", { messageCallback: () => {} });
pyodide.FS.mkdirTree("/repository");
pyodide.mountNodeFS("/repository", root);
if (folder && existsSync(join(folder, "kernel.wasm"))) {
  const imports = { env: { memory: pyodide._module.memory } };
  const { instance } = await WebAssembly.instantiate(readFileSync(join(folder, "kernel.wasm")), imports);
  pyodide.globals.set("matmul_t", instance.exports.matmul_t);
}
pyodide.globals.set("asked", pyodide.toPy(asked.length ? asked : ["tests/sim"]));
const code = await pyodide.runPythonAsync(`
import importlib, os, sys
sys.dont_write_bytecode = True
os.chdir("/repository")
sys.path.insert(0, "/repository")
importlib.invalidate_caches()
if "matmul_t" in globals():
    import sim.kernel
    sim.kernel.plug(matmul_t)
    os.environ["SIM_KERNEL"] = "plugged"
import pytest
print("Python", sys.version.split()[0], "on", sys.platform)
# The interpreter has no processes, no threads and no signals; caches would be written into the repository.
int(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:threadexception", *asked]))
`);
process.exit(code);
