// `npm start`: opens the demonstration of the web chat, and builds the page first if there is none.
import { existsSync } from 'node:fs'

if (!existsSync('dist/web/index.html')) {
  process.stderr.write('Building the web chat …\n')
  const { buildWeb } = await import('./build-web.mjs')
  await buildWeb()
}
// npm passes a signal to its shell only, which ends without passing it on.
const shell = process.ppid
const watch = setInterval(() => {
  if (process.ppid === shell) return
  clearInterval(watch)
  process.kill(process.pid, 'SIGTERM')
}, 250).unref()
process.argv.splice(2, 0, 'demo', '--web')
await import('../bin/troupe.mjs')
