import type { PlatformSetup } from '../platform.ts'

/** View channels, send messages, attach files, read their history, begin threads and write in them. */
const permissions = (1n << 10n) | (1n << 11n) | (1n << 15n) | (1n << 16n) | (1n << 35n) | (1n << 38n)

export const discordSetup: PlatformSetup = {
  fields: [
    { name: 'discord', label: 'Discord', type: 'text', options: ['on', 'off'], default: 'off' },
    { name: 'discord_application_id', label: 'Application ID, from the page General Information', type: 'text' },
    { name: 'DISCORD_BOT_TOKEN', label: 'Token, from the page Bot', type: 'secret' },
  ],
  settingsOf({ discord, discord_application_id: id }) {
    if (discord === undefined || discord === 'off') return undefined
    if (discord !== 'on') throw new Error('`discord` must be on or off.')
    if (typeof id !== 'string' || !/^\d+$/.test(id))
      throw new Error('`discord_application_id` must be a number, from the page General Information.')
    return { applicationId: id }
  },
  nextSteps(config) {
    const settings = this.settingsOf(config)
    if (settings === undefined) return ''
    return [
      'Discord: open https://discord.com/developers/applications and your application.',
      '- Bot: turn on Message Content Intent. Reset Token shows the token for this setup.',
      '- General Information: leave Interactions Endpoint URL empty.',
      'Then add the bot to your server:',
      `https://discord.com/oauth2/authorize?client_id=${settings.applicationId}&scope=bot+applications.commands&permissions=${permissions}`,
    ].join('\n')
  },
}
