// Started by tests as a process of its own: one command after the other, and what kept them from being started.
import { systemClock as clock } from '../../../src/runtime/index.ts'
import { processSandbox } from '../../../src/tools/sandbox/index.ts'

const { root, path, home, count } = JSON.parse(process.argv[2])
const sandbox = processSandbox({ root, path, home, clock })
const faults = []
for (let left = count; left > 0; left--) {
  const started = await sandbox.start({ argv: ['/bin/sh', '-c', 'echo here'], cwd: root, environment: {} })
  if (!started.ok) {
    faults.push(started.failure.message)
    continue
  }
  let text = ''
  started.running.listen((piece) => {
    text += Buffer.from(piece)
  })
  const { startFault, exitCode, undone } = await started.running.ended
  if (text !== 'here\n') faults.push(startFault ?? `it ended with ${exitCode} and said ${JSON.stringify(text)}`)
  faults.push(...undone)
}
process.stdout.write(JSON.stringify(faults))
