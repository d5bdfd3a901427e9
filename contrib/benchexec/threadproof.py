# The tool-info module of Threadproof for BenchExec.
#
# Put it where BenchExec finds it (`benchexec/tools/`, or a folder in PYTHONPATH) and write tool="threadproof" in the benchmark definition.

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import ILP32, LP64, get_data_model_from_task


class Tool(benchexec.tools.template.BaseTool2):
    """Threadproof: proves or refutes concurrent programs, with evidence."""

    REQUIRED_PATHS = ["threadproof", "libz3.so*"]

    def name(self):
        return "Threadproof"

    def executable(self, tool_locator):
        try:
            return tool_locator.find_executable("threadproof")
        except benchexec.tools.template.ToolNotFoundException:
            return tool_locator.find_executable("threadproof", subdir="target/release")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="threadproof ")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "verify"]
        if task.property_file:
            command += ["--property", task.property_file]
        data_model = get_data_model_from_task(task, {ILP32: "ILP32", LP64: "LP64"})
        if data_model and "--data-model" not in options:
            command += ["--data-model", data_model]
        # The answer must come before the limits of the run.
        if rlimits.cputime and "--timeout" not in options:
            command += ["--timeout", str(max(1, int(rlimits.cputime * 0.95)))]
        if rlimits.memory and "--memory" not in options:
            command += ["--memory", str(max(1, int(rlimits.memory * 0.9) // 1_000_000))]
        return command + list(options) + list(task.input_files_or_identifier)

    def determine_result(self, run):
        verdict = None
        for line in run.output:
            if line.startswith("verdict: "):
                verdict = line[len("verdict: ") :].strip()
        if run.was_timeout:
            return result.RESULT_TIMEOUT
        if verdict is None:
            return result.RESULT_ERROR
        if verdict == "true":
            return result.RESULT_TRUE_PROP
        if verdict.startswith("false(") and verdict.endswith(")"):
            return f"false({verdict[len('false(') : -1]})"
        if run.exit_code.value == 4:
            return result.RESULT_ERROR + " (internal error)"
        return result.RESULT_UNKNOWN
