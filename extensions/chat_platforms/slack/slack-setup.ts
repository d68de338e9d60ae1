import type { JsonObject } from 'troupe/extension'
import type { PlatformSetup } from '../platform.ts'

const modes = ['socket', 'webhooks', 'off']

export const slackSetup: PlatformSetup = {
  fields: [
    { name: 'slack', label: 'Slack: socket needs no public address, webhooks do', type: 'text', options: modes, default: 'socket' },
    {
      name: 'SLACK_BOT_TOKEN',
      label: 'Bot User OAuth Token (xoxb-…). Leave it empty to get the manifest of the app first',
      type: 'secret',
    },
    { name: 'SLACK_APP_TOKEN', label: 'App-Level Token (xapp-…), for socket', type: 'secret' },
    { name: 'SLACK_SIGNING_SECRET', label: 'Signing Secret, for webhooks', type: 'secret' },
  ],
  settingsOf({ slack }) {
    if (slack === undefined || slack === 'off') return undefined
    if (typeof slack !== 'string' || !modes.includes(slack)) throw new Error(`\`slack\` must be one of ${modes.join(', ')}.`)
    return { mode: slack }
  },
  nextSteps(config, url) {
    if (this.settingsOf(config) === undefined) return ''
    const isSocket = config.slack === 'socket'
    return [
      'Slack: open https://api.slack.com/apps, choose Create New App, From a manifest, and paste this:',
      '',
      JSON.stringify(slackManifest(isSocket ? undefined : url), null, 2),
      '',
      'Then install the app to your workspace, and run this setup again with its tokens:',
      '- OAuth & Permissions: Bot User OAuth Token (xoxb-…)',
      isSocket
        ? '- Basic Information, App-Level Tokens: a token with the scope connections:write (xapp-…)'
        : '- Basic Information, App Credentials: Signing Secret',
    ].join('\n')
  },
}

/** What the app may do and receives. `url`: where webhooks arrive; without it, the app uses Socket Mode. */
export function slackManifest(url: string | undefined): JsonObject {
  const address = url === undefined ? {} : { request_url: url }
  const events = ['app_home_opened', 'app_mention', 'message.channels', 'message.groups', 'message.im', 'message.mpim']
  const history = ['channels:history', 'groups:history', 'im:history', 'mpim:history']
  const read = ['channels:read', 'groups:read', 'im:read', 'mpim:read', 'users:read', 'files:read']
  const write = ['assistant:write', 'chat:write', 'commands', 'files:write', 'im:write']
  const command = { command: '/troupe', description: 'Give an agent a task', usage_hint: 'AGENT TEXT', should_escape: false }
  return {
    display_information: { name: 'Troupe', description: 'Agents of Troupe' },
    features: {
      app_home: { home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: 'Troupe', always_online: true },
      slash_commands: [{ ...command, ...(url !== undefined && { url }) }],
    },
    oauth_config: { scopes: { bot: ['app_mentions:read', ...history, ...read, ...write] } },
    settings: {
      event_subscriptions: { ...address, bot_events: events },
      interactivity: { is_enabled: true, ...address },
      org_deploy_enabled: false,
      socket_mode_enabled: url === undefined,
      token_rotation_enabled: false,
    },
  }
}
