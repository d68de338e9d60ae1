/** Package managers retry for minutes without a network. */
const noRetries = { npm_config_fetch_retries: '0', PIP_RETRIES: '0', CARGO_NET_RETRY: '0' }

export interface EnvironmentOptions {
  /** What the command is started with. */
  readonly given: { readonly [name: string]: string }
  readonly hasNetwork: boolean
  /** The home folder inside the sandbox. */
  readonly home: string
  /** The folder for temporary files inside the sandbox. */
  readonly temporary: string
}

/** The environment of a sandboxed command. */
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
