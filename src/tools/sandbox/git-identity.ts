import { execFile } from 'node:child_process'

const keys = ['name', 'email'] as const

export interface IdentityPlace {
  /** The program. */
  readonly git: string
  /** Where commands run: the person may have another identity for some folders. */
  readonly root: string
  readonly home: string
}

/**
 * The name and address that the person's own settings of Git give for commits, as a settings file of their own; nothing
 * where there are none. No other setting is taken over, so no credentials are.
 */
export async function gitIdentity({ git, root, home }: IdentityPlace): Promise<string | undefined> {
  const args = ['config', '--global', '--includes', '--null', '--get-regexp', `^user\\.(${keys.join('|')})$`]
  const printed = await new Promise<string>((resolve) => {
    execFile(git, args, { cwd: root, env: { HOME: home }, timeout: 5_000 }, (error, stdout) => resolve(error ? '' : stdout))
  })
  const found = new Map(printed.split('\0').map((entry) => [entry.slice(0, entry.indexOf('\n')), entry.slice(entry.indexOf('\n') + 1)]))
  const lines = keys.flatMap((key) => {
    const value = found.get(`user.${key}`)
    return value === undefined ? [] : [`\t${key} = ${quoted(value)}\n`]
  })
  return lines.length === 0 ? undefined : `[user]\n${lines.join('')}`
}

const quoted = (value: string): string => `"${value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
