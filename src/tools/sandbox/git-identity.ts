import { execFile } from 'node:child_process'

const keys = ['name', 'email'] as const

export interface IdentityOptions {
  /** The program. */
  readonly git: string
  /** Where commands run: a person may have another identity for some folders. */
  readonly root: string
  readonly home: string
}

/** The person's name and e-mail address for commits, as a Git settings file. No other setting is read, so no credentials are. */
export async function gitIdentity({ git, root, home }: IdentityOptions): Promise<string | undefined> {
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
