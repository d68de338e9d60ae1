// Started by crash.test.ts as a process of its own, to be killed or to be started with open descriptors.
import { processSandbox } from '../../../src/tools/sandbox/index.ts'

const { root, path, home, command } = JSON.parse(process.argv[2])
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
const started = await processSandbox({ root, path, home, clock }).start({
  argv: ['/bin/bash', '-c', command],
  cwd: root,
  environment: { PATH: path },
})
if (!started.ok) throw new Error(started.failure.message)
started.running.listen((piece) => process.stdout.write(Buffer.from(piece)))
await started.running.ended
