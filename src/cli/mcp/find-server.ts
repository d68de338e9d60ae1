import { type ConfiguredServer, resolveServer, serversOf } from '../../agents/index.ts'
import { type McpServerDefinition, TroupeError } from '../../contracts/index.ts'
import { serverDefinition } from '../../policy/mcp-servers.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { Project } from '../team/load-project.ts'

/** A trusted server of the configuration, or of an agent, with the values of its variables. @throws TroupeError */
export function findServer(name: string, { setup, registry }: Pick<Project, 'setup' | 'registry'>): McpServerDefinition {
  const { config, environment } = setup
  const all = [...serversOf(config), ...(registry.ok ? registry.agents.flatMap(({ servers }) => servers) : [])]
  const server = oneOf(name, all)
  if (!server.isTrusted)
    throw new TroupeError('config_invalid', `The MCP server "${name}" of ${server.origin.file} is not trusted.`, {
      remedy: `Review the file, then: troupe trust ${shellWord(server.origin.file)}`,
    })
  const resolved = resolveServer(server, { config, environment })
  if ('settings' in resolved) return serverDefinition(resolved.settings)
  throw new TroupeError('config_invalid', `The MCP server "${name}" cannot be used.`, { problems: resolved })
}

function oneOf(name: string, servers: readonly ConfiguredServer[]): ConfiguredServer {
  const [found, ...others] = servers.filter((each) => each.name === name)
  if (!found) {
    const names = [...new Set(servers.map((each) => each.name))]
    throw new TroupeError('usage', `Unknown MCP server "${name}".`, { remedy: knownNames(name, names, 'MCP server') })
  }
  const other = others.find(({ definition }) => JSON.stringify(definition) !== JSON.stringify(found.definition))
  if (!other) return found
  throw new TroupeError('usage', `${found.origin.file} and ${other.origin.file} have different MCP servers with the name "${name}".`, {
    remedy: 'Rename one of them.',
  })
}
