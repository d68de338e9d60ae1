import type { Dialect } from './foreign-agent.ts'

/** The first match applies. */
const places: readonly (readonly [RegExp, Dialect])[] = [
  [/\.(?:agent|chatmode)\.md$/i, 'copilot'],
  [/(?:^|\/)\.github\/agents\/[^/]+\.md$/, 'copilot'],
  [/(?:^|\/)\.claude\/agents\/.+\.md$/, 'claude'],
  [/(?:^|\/)\.?opencode\/agents?\/.+\.md$/, 'opencode'],
  [/(?:^|\/)\.gemini\/agents\/[^/]+\.md$/, 'gemini'],
  [/(?:^|\/)\.codex\/agents\/.+\.toml$/, 'codex'],
]

/** Keys of one dialect, for files in other folders. The first match applies; the last is the most common format. */
const marks: readonly (readonly [RegExp, Dialect])[] = [
  [/^(?:mode|permissions?|top_p|steps|maxSteps):/m, 'opencode'],
  [/^(?:max_turns|timeout_mins|kind|display_name):/m, 'gemini'],
  [/^(?:disable-model-invocation|user-invocable|mcp-servers|handoffs|argument-hint|target|infer):/m, 'copilot'],
  [/^name:/m, 'claude'],
]

const maxLooked = 32_768

/** By path, or by content for other paths. `undefined` for our own files and files that are not agents. */
export function detectDialect(path: string, text = ''): Dialect | undefined {
  const place = path.replaceAll('\\', '/')
  const known = places.find(([pattern]) => pattern.test(place))
  if (known) return known[1]
  const beginning = text
    .slice(0, maxLooked)
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
  if (/\.toml$/i.test(place)) return /^developer_instructions\s*=/m.test(beginning) ? 'codex' : undefined
  if (!/\.md$/i.test(place)) return undefined
  const [, settings] = /^\s*---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(beginning) ?? []
  if (settings === undefined || !/^description:/m.test(settings)) return undefined
  return marks.find(([pattern]) => pattern.test(settings))?.[1]
}

/** Folders of other programs with agents, relative to the project. */
export const dialectFolders: readonly string[] = [
  '.claude/agents',
  '.github/agents',
  '.opencode/agent',
  '.opencode/agents',
  '.gemini/agents',
  '.codex/agents',
]
