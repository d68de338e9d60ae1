// Started by memory.test.ts as a process of its own: what a command that prints 200 MB costs in memory.
import { shellTool } from '../../../src/tools/builtin/shell/shell-tool.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'

const { root, path, home, isConfined } = JSON.parse(process.argv[2])
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
const sandbox = processSandbox({ root, path, home, clock })
const tool = shellTool({ root, path, home, clock, sandbox, isConfined })
let shown = 0
const context = {
  signal: new AbortController().signal,
  overlay: {},
  confinement: isConfined ? { kind: 'sandbox', name: sandbox.name } : { kind: 'none' },
  output: (chunk) => {
    shown += chunk.length
  },
  progress() {},
}
const print = (bytes) => tool.execute({ command: `head -c ${bytes} /dev/zero | tr "\\0" x` }, context)
// The most that this process has ever had. What the first few megabytes cost is the price of the code, not of what is printed.
const peak = () => process.resourceUsage().maxRSS / 1024
await print(4_000_000)
const before = peak()
shown = 0
const output = await print(200_000_000)
process.stdout.write(JSON.stringify({ output: output.ok ? output.value : output.error, addedMb: peak() - before, shown }))
