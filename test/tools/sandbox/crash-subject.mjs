// Started by tests as a process of its own, to be killed or to be started with open descriptors.
import { writeFileSync } from 'node:fs'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'

const { root, path, home, command, hold } = JSON.parse(process.argv[2])
const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}
const sandbox = processSandbox({ root, path, home, clock })
await sandbox.probe()
// From here on, whoever looks for this file holds the command.
if (hold) writeFileSync(hold, '')
const started = await sandbox.start({
  argv: ['/bin/bash', '-c', command],
  cwd: root,
  environment: { PATH: path },
})
if (!started.ok) throw new Error(started.failure.message)
started.running.listen((piece) => process.stdout.write(Buffer.from(piece)))
await started.running.ended
