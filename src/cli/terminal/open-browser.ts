import { spawn } from 'node:child_process'
import type { Host } from './process-host.ts'

/** Opens a page in the browser of the user, if there is one. Nobody waits for it, and a failure does not matter: the URL is printed, too. */
export function openBrowser({ href }: URL, { env }: Pick<Host, 'env'>, platform: NodeJS.Platform = process.platform): boolean {
  const opener = openerFor(platform, env)
  if (!opener) return false
  const [program, ...args] = opener
  const child = spawn(program, [...args, href], { stdio: 'ignore', detached: true, env: env as NodeJS.ProcessEnv })
  child.on('error', () => {})
  child.unref()
  return true
}

/** Whether a person is there who would see it: not in a pipe, not in CI, and not with `BROWSER=none`. */
export const mayOpenBrowser = ({ env, window, isSeen = window === 'terminal' }: Pick<Host, 'env' | 'window' | 'isSeen'>): boolean =>
  isSeen && !env.CI && env.BROWSER !== 'none'

type Opener = readonly [program: string, ...args: readonly string[]]

function openerFor(platform: NodeJS.Platform, env: Host['env']): Opener | undefined {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}
