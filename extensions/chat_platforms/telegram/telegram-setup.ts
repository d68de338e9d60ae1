import type { PlatformSetup } from '../platform.ts'

const modes = ['polling', 'webhooks', 'off']

export const telegramSetup: PlatformSetup = {
  fields: [
    { name: 'telegram', label: 'Telegram: polling needs no public address, webhooks do', type: 'text', options: modes, default: 'off' },
    { name: 'TELEGRAM_BOT_TOKEN', label: 'Token of the bot, from @BotFather', type: 'secret' },
  ],
  settingsOf({ telegram, public_url }) {
    if (telegram === undefined || telegram === 'off') return undefined
    if (typeof telegram !== 'string' || !modes.includes(telegram)) throw new Error(`\`telegram\` must be one of ${modes.join(', ')}.`)
    return { mode: telegram, ...(telegram === 'webhooks' && public_url && { publicUrl: public_url }) }
  },
  nextSteps(config) {
    if (this.settingsOf(config) === undefined) return ''
    return [
      'Telegram: write /newbot to https://t.me/BotFather, and run this setup again with the token that it sends.',
      'People write to the bot directly, or mention it in a group to which it was added.',
      'Everybody on Telegram can write to a bot: name the people, such as telegram:123456789. The bot tells everybody else their id.',
    ].join('\n')
  },
}
