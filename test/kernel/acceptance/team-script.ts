import type { Files } from './assistant.ts'
import type { Asked, Call, Reply, Script } from './scripted-provider.ts'

/**
 * What the models do. The orchestrator obeys: `build ID …`, `restart`, `ask AGENT: TASK`, `use TOOL {INPUT}`; everything else it answers
 * with all that the person has said. The builder writes the files of each id, checks them, and asks for a restart.
 *
 * @param blueprints Files of each extension, relative to its folder.
 * @param others Scripts of other agents, by a part of their prompts.
 */
export const teamScript =
  (blueprints: { readonly [id: string]: Files } = {}, others: { readonly [prompt: string]: Script } = {}): Script =>
  (asked) => {
    if (asked.system.includes('You are the assistant of one person')) return orchestrator(asked)
    if (asked.system.includes('You create new extensions for Troupe')) return builder(asked, blueprints)
    const own = Object.entries(others).find(([prompt]) => asked.system.includes(prompt))
    return own ? own[1](asked) : { text: `Nobody has written a script for: ${asked.system}` }
  }

function orchestrator({ users, results }: Asked): Reply {
  const said = users.at(-1) ?? ''
  if (results.length > 0) return { text: results.at(-1) ?? '' }
  if (/^(?:build|restart)\b/m.test(said)) return call('agent__builder_agent', { task: said })
  const [, agent, task] = /^ask (\w+): (.*)$/m.exec(said) ?? []
  if (agent !== undefined && task !== undefined) return call(`agent__${agent}`, { task })
  const [, tool, input] = /^use (\w+) (\{.*\})$/m.exec(said) ?? []
  if (tool !== undefined && input !== undefined) return call(tool, JSON.parse(input))
  return { text: `You said: ${users.join(' | ')}` }
}

/** All files of an extension in one step. */
function builder({ users, results }: Asked, blueprints: { readonly [id: string]: Files }): Reply {
  const ids = (/^build (.*)$/m.exec(users.at(-1) ?? '')?.[1] ?? '').split(' ').filter((id) => id in blueprints)
  const steps: readonly (readonly Call[])[] = [
    ...ids.flatMap((id) => [
      Object.entries(blueprints[id] ?? {}).map(([path, content]) => ({
        name: 'builder_agent__write_file',
        input: { path: `${id}/${path}`, content },
      })),
      [{ name: 'builder_agent__validate_extension', input: { id } }],
    ]),
    [{ name: 'builder_agent__request_restart', input: { reason: ids.join(', ') || 'You asked for it' } }],
  ]
  if (/ has (?:a problem|\d+ problems):/.test(results.at(-1) ?? '')) return { text: `I could not build it. ${results.at(-1)}` }
  const next = steps.find((_, index) => steps.slice(0, index).flat().length === results.length)
  return next ? { calls: next } : { text: `Done: ${results.join(' / ')}` }
}

export const call = (name: string, input: object): Reply => ({ calls: [{ name, input }] })
