import { execFileSync } from 'node:child_process'
import type { Supervisor } from '../../../kernel/supervisor/index.ts'

/** Whether this process may read its terminal. The kernel leads a session of its own, so the system does not stop it from reading. */
export function isInForeground(): boolean {
  try {
    const columns = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [group, foreground] = columns.toString().trim().split(/\s+/)
    // A terminal that was closed has none: SIGCONT comes together with SIGHUP.
    return foreground === group || !(Number(foreground) > 0)
  } catch {
    // There is no `ps`.
    return true
  }
}

/** Ctrl-Z, `fg`, `bg` and a new size of the window: the terminal tells the supervisor only. */
export function passJobControl(supervisor: Supervisor): void {
  const suspend = (): void => {
    supervisor.forward('SIGSTOP')
    process.kill(process.pid, 'SIGSTOP')
  }
  process.on('SIGTSTP', suspend)
  process.on('SIGCONT', () => (isInForeground() ? supervisor.forward('SIGCONT') : suspend()))
  process.on('SIGWINCH', () => supervisor.forward('SIGWINCH'))
}
