import type { Extension, ExtensionContext, HealthReport, JsonObject, SetupField, SetupProvider, Tool, ToolProvider } from 'troupe/extension'
import { searchTool } from './search.ts'

const keyName = 'WEB_SEARCH_KEY'

interface SearchConfig {
  readonly url: string
  readonly keyHeader: string
}

/** The built-in `web_fetch`, and `search` where a service is configured. */
export class WebExtension implements Extension, ToolProvider, SetupProvider {
  #tools: readonly Tool[] = []
  #health: HealthReport = { healthy: true }

  initialize(context: ExtensionContext): void {
    this.#tools = context.builtinTools(['web_fetch'])
    // Others need `web_fetch`: it works without a search.
    try {
      this.#tools = [...this.#tools, ...configuredSearch(context)]
    } catch (error) {
      const message = `There is no search: ${error instanceof Error ? error.message : error}`
      this.#health = { healthy: false, message }
      context.logger.warn(message)
    }
  }

  getTools(): readonly Tool[] {
    return this.#tools
  }

  healthCheck(): HealthReport {
    return this.#health
  }

  getSetupSchema(): readonly SetupField[] {
    return [
      { name: 'search_url', label: 'Search URL with {query} in it. Leave it empty for no search', type: 'text' },
      { name: 'search_key_header', label: 'Header for the key, such as X-Subscription-Token. Leave it empty for no key', type: 'text' },
      { name: keyName, label: 'Key of the search service', type: 'secret' },
    ]
  }

  /** The kernel stores the values. They apply after a restart. */
  applyConfig(config: JsonObject): void {
    readConfig(config)
  }
}

/** @throws if a value is wrong or the key is missing. */
function configuredSearch(context: ExtensionContext): readonly Tool[] {
  const { url, keyHeader } = readConfig(context.config)
  if (url === '') return []
  return [searchTool({ url, ...(keyHeader !== '' && { key: { header: keyHeader, value: context.secret(keyName) } }) })]
}

/** @throws if a value is wrong. */
function readConfig({ search_url = '', search_key_header = '' }: JsonObject): SearchConfig {
  if (typeof search_url !== 'string' || typeof search_key_header !== 'string') {
    throw new Error('`search_url` and `search_key_header` must be texts.')
  }
  const isUrl = /^https?:$/.test(URL.parse(search_url)?.protocol ?? '')
  if (search_url !== '' && !(isUrl && search_url.includes('{query}'))) {
    throw new Error(`\`search_url\` must be an http or https URL with {query} in it, found ${JSON.stringify(search_url)}.`)
  }
  if (search_key_header !== '' && !/^[\w-]+$/.test(search_key_header)) {
    throw new Error(`\`search_key_header\` must be the name of an HTTP header, found ${JSON.stringify(search_key_header)}.`)
  }
  return { url: search_url, keyHeader: search_key_header }
}
