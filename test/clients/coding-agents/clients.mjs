// How each client is installed and started: no login, no telemetry, no update check, no question, no sandbox of its own.
// `start({ url, model, token, home, prompt })` returns `command` (its first word is below the folder of the packages), variables, and
// `files` for the home folder.

const binary = (name) => `node_modules/.bin/${name}`
/** Packages with a program for each platform. Their installation scripts, which would link it, are not run. */
const platform = `${process.platform}-${process.arch}`

const claude = ({ url, model, token, prompt }) => ({
  // As root it refuses --dangerously-skip-permissions.
  command: [
    `node_modules/@anthropic-ai/claude-code-${platform}/claude`,
    '-p',
    prompt,
    '--model',
    model,
    '--allowedTools',
    'Read Edit Bash',
  ],
  variables: {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: token,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
  },
})

const codex =
  (settings = '', files = {}) =>
  ({ url, model, token, home, prompt }) => ({
    command: [binary('codex'), 'exec', '--skip-git-repo-check', prompt],
    variables: { TROUPE_TOKEN: token },
    files: {
      '.codex/config.toml': `model = "${model}"
model_provider = "troupe"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
${settings.replace('HOME', home)}
[analytics]
enabled = false

[model_providers.troupe]
name = "Troupe"
base_url = "${url}/v1"
env_key = "TROUPE_TOKEN"
wire_api = "responses"
`,
      ...Object.fromEntries(Object.entries(files).map(([name, content]) => [name, JSON.stringify(content(model))])),
    },
  })

/** With this entry Codex offers `apply_patch` as a custom tool. Without one, it edits with a command that it intercepts. */
const catalog = (model) => ({
  models: [
    {
      slug: model,
      display_name: 'Troupe',
      supported_reasoning_levels: [],
      shell_type: 'unified_exec',
      visibility: 'list',
      supported_in_api: true,
      priority: 1,
      base_instructions: 'You are a coding agent.',
      apply_patch_tool_type: 'freeform',
      truncation_policy: { mode: 'tokens', limit: 10_000 },
      supports_parallel_tool_calls: true,
      experimental_supported_tools: [],
      support_verbosity: false,
      context_window: 200_000,
    },
  ],
})

const opencode = ({ url, model, token, prompt }) => ({
  command: [`node_modules/opencode-${platform}/bin/opencode`, 'run', '-m', `troupe/${model}`, prompt],
  variables: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  },
  files: {
    '.config/opencode/opencode.json': JSON.stringify({
      provider: {
        troupe: { npm: '@ai-sdk/openai-compatible', options: { baseURL: `${url}/v1`, apiKey: token }, models: { [model]: {} } },
      },
      permission: { '*': 'allow' },
      share: 'disabled',
    }),
  },
})

const pi =
  (api, path) =>
  ({ url, model, token, prompt }) => ({
    command: [binary('pi'), '-p', '--provider', 'troupe', '--model', model, prompt],
    variables: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' },
    files: {
      '.pi/agent/models.json': JSON.stringify({
        providers: { troupe: { baseUrl: url + path, api, apiKey: token, models: [{ id: model }] } },
      }),
    },
  })

const qwen = ({ url, model, token, prompt }) => ({
  command: [binary('qwen'), '-p', prompt, '--yolo', '--auth-type', 'openai'],
  variables: { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: token, OPENAI_MODEL: model },
  files: { '.qwen/settings.json': JSON.stringify({ privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false } }) },
})

const continueCli = ({ url, model, token, home, prompt }) => ({
  command: [binary('cn'), '-p', '--auto', '--config', `${home}/config.yaml`, prompt],
  variables: { CONTINUE_TELEMETRY_ENABLED: '0' },
  files: {
    'config.yaml': JSON.stringify({
      name: 'Troupe',
      version: '1.0.0',
      schema: 'v1',
      models: [
        { name: model, provider: 'openai', model, apiBase: `${url}/v1`, apiKey: token, roles: ['chat'], capabilities: ['tool_use'] },
      ],
    }),
  },
})

const packages = {
  claude: { '@anthropic-ai/claude-code': '2.1.328' },
  codex: { '@openai/codex': '0.169.0' },
  opencode: { 'opencode-ai': '1.18.33' },
  pi: { '@earendil-works/pi-coding-agent': '0.87.1' },
  qwen: { '@qwen-code/qwen-code': '0.24.4' },
  continue: { '@continuedev/cli': '1.5.47' },
}
const client = (program, start, tools = program) => ({ program, packages: packages[program], tools, start })

/** `program` names the folder of the packages, `tools` a set of `task.mjs`. */
export const clients = {
  claude: client('claude', claude),
  codex: client('codex', codex()),
  'codex-custom': client('codex', codex('model_catalog_json = "HOME/models.json"', { 'models.json': catalog }), 'codex-custom'),
  opencode: client('opencode', opencode),
  pi: client('pi', pi('openai-completions', '/v1')),
  'pi-responses': client('pi', pi('openai-responses', '/v1')),
  'pi-messages': client('pi', pi('anthropic-messages', '')),
  qwen: client('qwen', qwen),
  continue: client('continue', continueCli),
}
