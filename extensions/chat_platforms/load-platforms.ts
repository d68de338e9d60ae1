import type { PlatformModule, PlatformName } from './platform.ts'

const version = '4.41.0'
const isMissing = (error: unknown): boolean =>
  error instanceof Error && /Cannot find package '(?:chat|@chat-adapter\/\w+)'/.test(error.message)

const modules: { readonly [name in PlatformName]: () => Promise<PlatformModule> } = {
  slack: async () => (await import('./slack/open-slack.ts')).slack,
  telegram: async () => (await import('./telegram/open-telegram.ts')).telegram,
  discord: async () => (await import('./discord/open-discord.ts')).discord,
}

/** The packages are not part of Troupe. @throws with the command that installs them. */
export async function loadPlatform(name: PlatformName): Promise<PlatformModule> {
  return needed(modules[name], `@chat-adapter/${name}`)
}

export const loadChat = async (adapters: readonly PlatformName[]): Promise<typeof import('chat')> =>
  needed(() => import('chat'), ...adapters.map((name) => `@chat-adapter/${name}`))

async function needed<T>(load: () => Promise<T>, ...adapters: readonly string[]): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (!isMissing(error)) throw error
    // All of one version: others do not match each other.
    const packages = ['chat', ...adapters].map((name) => `${name}@${version}`).join(' ')
    throw new Error(`A package of Chat SDK is missing. Install it where Troupe is installed: npm install ${packages}`)
  }
}
