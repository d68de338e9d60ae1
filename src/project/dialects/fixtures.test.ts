// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables as the files write them
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { detectDialect } from './detect-dialect.ts'
import type { ForeignAgent } from './foreign-agent.ts'
import { grantedTools } from './granted-tools.ts'
import { parseForeignAgent } from './parse-foreign-agent.ts'

/** A file as others write it, read as if it lay where they keep it. */
function fixture(name: string, place: string): ForeignAgent {
  const content = readFileSync(new URL(`./fixtures/${name}`, import.meta.url))
  const dialect = detectDialect(place) ?? expect.unreachable(`no dialect keeps files at ${place}`)
  return parseForeignAgent(content, place, dialect)
}
const told = ({ warnings }: ForeignAgent): readonly string[] =>
  warnings.map(({ place, message }) => `${place.split('/').at(-1)} ${message}`)

test('Claude', () => {
  const agent = fixture('claude-release-notes.md', '.claude/agents/release-notes.md')
  expect(agent).toEqual({
    dialect: 'claude',
    name: 'release-notes',
    description: expect.stringMatching(/^Use this agent when a release is near: it reads .*assistant: "I will ask release-notes\."$/),
    prompt: expect.stringMatching(/^You write release notes for \{\{ people \}\} who[\s\S]*means for them\.$/),
    models: ['anthropic/claude-sonnet-5'],
    reasoning: 'high',
    maxToolTurns: 20,
    tools: { kind: 'only', names: ['read_file', 'search_files', 'list_files', 'github/list_releases', 'agent__proof-reader', 'shell'] },
    deniedTools: ['write_file', 'apply_patch', 'edit_file'],
    askTools: [],
    commandRules: [{ deny: ['shell'], reason: expect.stringContaining('git log *') }, { allow: ['shell(git log)', 'shell(git log *)'] }],
    skills: ['changelog'],
    mcpServers: [
      { name: 'slack' },
      { name: 'tracker', config: { command: 'npx', args: ['-y', 'tracker-mcp'], env: { TOKEN: '${TRACKER_TOKEN}' } } },
    ],
    enabled: true,
    metadata: { color: 'green' },
    warnings: agent.warnings,
  })
  expect(told(agent)).toEqual([
    'release-notes.md:3:1 `description` is not valid YAML and is read as quoted text',
    'release-notes.md:4:1 "WebSearch" is left out: there is no such tool',
    expect.stringMatching(
      /^release-notes.md:4:1 The agent can run only these commands: `git log`, `git log \*` \(.*All other commands are denied\./,
    ),
    'release-notes.md:9:1 `permissionMode: acceptEdits`: a file cannot loosen the approvals and the sandbox of the session',
    'release-notes.md:19:1 `hooks` is not supported: its commands are not run',
    'release-notes.md:25:1 `memory` is not supported: the agent has no memory of earlier sessions',
  ])
})

test('Copilot', () => {
  const agent = fixture('copilot-api-reviewer.agent.md', '.github/agents/api-reviewer.agent.md')
  expect(agent).toEqual({
    dialect: 'copilot',
    name: 'api-reviewer',
    displayName: 'API Reviewer',
    description: 'Reviews changes to public interfaces',
    usage: 'the branch to review',
    prompt: '# API review\n\nLook at every exported name.',
    models: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'],
    tools: {
      kind: 'only',
      names: [
        'read_file',
        'search_files',
        'list_files',
        'write_file',
        'github/*',
        'custom-mcp/tool-1',
        'azure.some-extension/x',
        'web_fetch',
      ],
    },
    deniedTools: [],
    askTools: [],
    agents: ['docs-writer'],
    infer: false,
    mcpServers: [
      {
        name: 'custom-mcp',
        config: {
          type: 'stdio',
          command: 'some-command',
          args: ['--port', '${PORT}'],
          tools: ['*'],
          env: { TOKEN: '${COPILOT_MCP_TOKEN}' },
        },
      },
    ],
    enabled: true,
    metadata: { target: 'vscode', metadata: { team: 'platform' } },
    warnings: agent.warnings,
  })
  expect(told(agent)).toEqual([
    'api-reviewer.agent.md:4:1 "vscode/openFile" is left out: there is no such tool',
    'api-reviewer.agent.md:11:1 `user-invocable` is not supported: people can always choose the agent',
    'api-reviewer.agent.md:12:1 `handoffs` is not supported: the agent does not hand over by itself',
  ])
})

test('opencode', () => {
  const agent = fixture('opencode-auditor.md', '.opencode/agent/auditor.md')
  expect(agent).toEqual({
    dialect: 'opencode',
    name: 'auditor',
    description: 'Audits the code for weaknesses',
    prompt: 'You look for weaknesses and change nothing.',
    models: ['anthropic/claude-sonnet-4-20250514'],
    temperature: 0.1,
    topP: 0.9,
    maxToolTurns: 15,
    tools: { kind: 'all' },
    deniedTools: ['write_file', 'edit_file', 'apply_patch', 'mymcp/*'],
    askTools: ['shell', 'web_fetch'],
    commandRules: [{ allow: ['shell(git diff*)'] }],
    enabled: true,
    metadata: { hidden: true, color: '#ff6b6b' },
    warnings: agent.warnings,
  })
  expect(told(agent)).toEqual([
    'auditor.md:10:1 the rule for `mymcp_*` has no effect: there is no such tool',
    'auditor.md:10:1 the rule for `external_directory` has no effect: there is no such tool',
    expect.stringMatching(/^auditor.md:10:1 rules about commands hold for each command of a line; .* is asked about/),
  ])
  const known = ['shell', 'read_file', 'write_file', 'mymcp/a', 'other/a', 'agent__x']
  expect(grantedTools(agent, known)).toEqual(['shell', 'read_file', 'other/a', 'agent__x'])
})

test('Gemini', () => {
  const agent = fixture('gemini-security-auditor.md', '.gemini/agents/security-auditor.md')
  expect(agent).toEqual({
    dialect: 'gemini',
    name: 'security-auditor',
    displayName: 'Security auditor',
    description: 'Finds weaknesses in code.',
    prompt: 'You audit code. Report, and do not mend.',
    models: ['google/gemini-3-flash-preview'],
    temperature: 0.2,
    maxToolTurns: 10,
    timeBudgetMs: 300_000,
    tools: { kind: 'only', names: ['read_file', 'search_files', 'scanner/*', 'my-server/list_rules'] },
    deniedTools: [],
    askTools: [],
    mcpServers: [{ name: 'scanner', config: { command: 'node', args: ['scanner.js'] } }],
    enabled: true,
    metadata: {},
    warnings: agent.warnings,
  })
  expect(told(agent)).toEqual(['security-auditor.md:6:1 "google_web_search" is left out: there is no such tool'])
})

test('Codex', () => {
  const agent = fixture('codex-explorer.toml', '.codex/agents/explorer.toml')
  expect(agent).toEqual({
    dialect: 'codex',
    name: 'pr_explorer',
    description: 'Explores a change and gathers evidence',
    prompt: 'Stay in exploration mode.\nname = "not a key"\nCite files, and propose no fixes unless {{ asked }}.',
    models: ['openai/gpt-5.4'],
    reasoning: 'xhigh',
    tools: { kind: 'all' },
    deniedTools: ['write_file', 'edit_file', 'apply_patch', 'shell', 'web_fetch'],
    askTools: [],
    sandbox: { mode: 'required', hosts: [], writable: [] },
    mcpServers: [{ name: 'docs', config: { url: 'https://example.invalid/mcp', startup_timeout_sec: 20 } }],
    enabled: true,
    metadata: { nickname_candidates: ['Atlas', 'Echo'] },
    warnings: agent.warnings,
  })
  expect(told(agent)).toEqual([
    'explorer.toml:6:1 `sandbox_mode: read-only`: here the agent has no shell and no tools that write',
    'explorer.toml:9:1 unknown key `experimental_flag`: it has no effect',
    'explorer.toml:20:3 `skills` is not supported: the agent has no skills',
  ])
})
