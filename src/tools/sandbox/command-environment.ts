import { execFile } from 'node:child_process'

/** Package managers retry for minutes without a network. */
const noRetries = { npm_config_fetch_retries: '0', PIP_RETRIES: '0', CARGO_NET_RETRY: '0' }

interface EnvironmentOptions {
  readonly given: { readonly [name: string]: string }
  readonly hasNetwork: boolean
  readonly home: string
  readonly temporary: string
}

export function commandEnvironment({ given, hasNetwork, home, temporary }: EnvironmentOptions): { readonly [name: string]: string } {
  return { ...(hasNetwork ? {} : noRetries), ...given, ...gitSettings(given), HOME: home, TMPDIR: temporary }
}

/** `.git/config` is read-only, so Git could not store which branch a new one tracks, and would fail. */
function gitSettings({ GIT_CONFIG_COUNT = '0' }: EnvironmentOptions['given']): { readonly [name: string]: string } {
  const next = Number(GIT_CONFIG_COUNT)
  if (!Number.isSafeInteger(next)) return {}
  return {
    GIT_CONFIG_COUNT: String(next + 1),
    [`GIT_CONFIG_KEY_${next}`]: 'branch.autoSetupMerge',
    [`GIT_CONFIG_VALUE_${next}`]: 'false',
  }
}

const keys = ['name', 'email'] as const

/**
 * The person's name and e-mail address for commits, as a Git settings file. No other setting is read, so no
 * credentials are. `git` is the program. A person may have another identity for some folders, so it runs in `root`.
 */
export async function gitIdentity(git: string, root: string, home: string): Promise<string | undefined> {
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
