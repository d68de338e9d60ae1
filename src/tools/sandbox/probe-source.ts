/** The source of a program that tries to escape from the sandbox. Plain JavaScript, because it is passed as text. */
export const probeSource = `
const fs = require('node:fs')
const { connect } = require('node:net')
const { spawn } = require('node:child_process')
const { join } = require('node:path')
const { secret, port, pid, namespaces, folders, mark } = JSON.parse(process.argv[1])
const escapes = []
const attempt = (what, way) => {
  try {
    if (way() !== false) escapes.push(what)
  } catch {}
}
for (const folder of folders) attempt(null, () => fs.writeFileSync(join(folder, mark), 'out'))
escapes.length = 0
attempt('read a secret of this machine', () => fs.readFileSync(secret, 'utf8') === 'secret')
for (const [kind, own] of Object.entries(namespaces)) {
  attempt('share a namespace (' + kind + ')', () => fs.readlinkSync('/proc/self/ns/' + kind) === own)
}
if (!('pid' in namespaces)) attempt('signal a process outside', () => process.kill(pid, 0))
if (fs.existsSync('/proc/sys/kernel/core_pattern')) {
  attempt('change kernel settings', () => fs.closeSync(fs.openSync('/proc/sys/kernel/core_pattern', 'r+')))
}
if (process.platform === 'linux') {
  const status = fs.readFileSync('/proc/self/status', 'utf8')
  attempt('keep a capability', () => !/^CapEff:\\t0+$/m.test(status) || !/^CapBnd:\\t0+$/m.test(status))
  attempt('gain privileges', () => !/^NoNewPrivs:\\t1$/m.test(status))
}
// If it survives, it ends by itself soon.
spawn('/bin/sh', ['-c', 'trap "" TERM HUP; exec sleep 6'], { detached: true, stdio: 'inherit' }).unref()
const tell = () => process.stdout.write('TRIED ' + JSON.stringify(escapes) + '\\n', () => process.exit(0))
const socket = connect(port, '127.0.0.1')
socket.on('connect', () => {
  escapes.push('reach a port of this machine')
  tell()
})
socket.on('error', tell)
socket.setTimeout(2000, tell)
`
