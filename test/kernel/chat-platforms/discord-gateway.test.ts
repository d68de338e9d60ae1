import { expect, it, onTestFinished } from 'vitest'
import { Gateway, type Session } from '../../../extensions/chat_platforms/discord/gateway.ts'
import { Growing } from '../../growing.ts'
import { DiscordStandIn, discordToken } from '../../stand-ins/chat-platforms/discord.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

async function openGateway(handle = async (_content: string): Promise<void> => {}) {
  const discord = await DiscordStandIn.open()
  onTestFinished(() => discord.close())
  const handled = new Growing<readonly string[]>([])
  let stored: Session | undefined
  const open = async (): Promise<Gateway> => {
    const gateway = new Gateway({
      token: discordToken,
      url: async () => discord.gateway.url,
      sessions: {
        load: async () => stored,
        async store(session) {
          stored = session
        },
      },
      async handle(name, { content }) {
        if (name !== 'MESSAGE_CREATE') return
        await handle(content)
        handled.set([...handled.value, content])
      },
      logger: quiet,
    })
    await gateway.open()
    onTestFinished(() => gateway.close())
    return gateway
  }
  const says = async (text: string): Promise<void> => {
    await discord.write({ person: '7001', text, direct: true }).deliver()
  }
  return {
    gateway: await open(),
    reopen: open,
    discord,
    handled,
    says,
    hears: (text: string) => handled.until((all) => all.includes(text) || undefined, text),
  }
}

it('resumes after a broken connection, after a new one was asked for, and in another process', async () => {
  const { gateway, reopen, discord, says, hears, handled } = await openGateway()
  await says('one')
  await hears('one')
  discord.gateway.cut()
  await says('two')
  await hears('two')
  discord.gateway.askToReconnect()
  await says('three')
  await hears('three')
  await gateway.close()
  const said = says('four')
  const next = await reopen()
  await said
  await hears('four')
  expect(handled.value).toEqual(['one', 'two', 'three', 'four'])
  expect(discord.gateway.begun.identified).toBe(1)
  expect(next.health).toEqual({ healthy: true })
})

it('asks again for what was not stored, and begins anew when Discord has forgotten the session', async () => {
  let failures = 2
  const { discord, says, hears, handled } = await openGateway(async (content) => {
    if (content === 'two' && failures-- > 0) throw new Error('The store is busy.')
  })
  await says('one')
  await says('two')
  await hears('two')
  discord.gateway.forgetSession()
  discord.gateway.cut()
  await says('three')
  await hears('three')
  expect(handled.value).toEqual(['one', 'two', 'three'])
  expect(discord.gateway.begun).toEqual({ identified: 2, resumed: 2 })
})
