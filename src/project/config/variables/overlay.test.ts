// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { describe, expect, test } from 'vitest'
import { configOf } from '../../../../test/fixtures/memory-files.ts'
import type { TroupeError } from '../../../contracts/index.ts'
import { redactor } from '../../../util/redact.ts'
import { agentPathsOf, featuresOf, pricesOf, queuesOf, storePathOf } from '../section-values.ts'
import { overlayFor } from './overlay.ts'

const user = '/home/.ai-agent/.ai-agent.json'
const settings = {
  providers: {
    lab: {
      kind: 'openai',
      baseURL: '${LAB_URL:-https://lab.example.org/v1}',
      apiKey: '${LAB_ACCESS}',
      headers: { 'X-Team': '${TEAM}', 'X-App': 'troupe' },
      api: 'chat',
    },
    openai: { apiKey: 'sk-literal-1' },
    other: { apiKey: '${OTHER_KEY}' },
  },
  models: { fast: 'lab/small', quick: 'fast', mine: '${MY_MODEL}', unused: '${NONE}' },
}

describe('an overlay', () => {
  test('has what the models need, with variables in their places', async () => {
    const config = await configOf({ [user]: settings, '/home/.ai-agent/.ai-agent.env': 'LAB_ACCESS=open-sesame\nTEAM=research' })
    const overlay = overlayFor(['quick'], { config, environment: { PATH: '/bin', EMPTY: '', GITHUB_TOKEN: 'ghp_1234567' } })
    expect({ ...overlay, variables: { ...overlay.variables } }).toEqual({
      variables: { LAB_ACCESS: 'open-sesame', TEAM: 'research', PATH: '/bin', GITHUB_TOKEN: 'ghp_1234567' },
      providers: {
        lab: {
          kind: 'openai',
          baseURL: 'https://lab.example.org/v1',
          apiKey: 'open-sesame',
          headers: { 'X-Team': 'research', 'X-App': 'troupe' },
          api: 'chat',
        },
      },
      aliases: { fast: 'lab/small', quick: 'fast' },
      secrets: {
        GITHUB_TOKEN: 'ghp_1234567',
        'providers.lab.apiKey': 'open-sesame',
        'secret LAB_ACCESS': 'open-sesame',
        'secret TEAM': 'research',
      },
      diagnostics: [],
    })
  })

  test('its secrets are what a redactor hides', async () => {
    const config = await configOf({ [user]: settings, '/home/.ai-agent/.ai-agent.env': 'LAB_ACCESS=open-sesame\nTEAM=research' })
    const { secrets } = overlayFor(['lab/x', 'openai/y'], { config, environment: {} })
    expect(redactor(secrets).text('open-sesame research troupe sk-literal-1')).toBe(
      '[redacted:providers.lab.apiKey] [redacted:secret TEAM] troupe [redacted:providers.openai.apiKey]',
    )
  })

  test('missing variables of used providers are an error, all together', async () => {
    const config = await configOf({ [user]: settings })
    const wrong = (() => {
      try {
        return overlayFor(['lab/x', 'other/y'], { config, environment: {} })
      } catch (error) {
        return (error as TroupeError).problems.map(({ message }) => message)
      }
    })()
    expect(wrong).toEqual([
      '`providers.lab.apiKey` needs the variable LAB_ACCESS, which is not set',
      '`providers.lab.headers.X-Team` needs the variable TEAM, which is not set',
      '`providers.other.apiKey` needs the variable OTHER_KEY, which is not set',
    ])
    expect(() => overlayFor(['mine'], { config, environment: {} })).toThrow('The variables of the configuration have 1 problem.')
    expect(overlayFor(['mine'], { config, environment: { MY_MODEL: 'openai/x' } }).providers).toEqual({
      openai: { apiKey: 'sk-literal-1' },
    })
  })

  test.each(['auto', 'claude-sonnet-5'])('%s may mean any provider, so those that lack a variable are left out', async (name) => {
    const config = await configOf({ [user]: settings })
    const overlay = overlayFor([name], { config, environment: { OTHER_KEY: 'o' } })
    expect(overlay.providers).toEqual({ openai: { apiKey: 'sk-literal-1' }, other: { apiKey: 'o' } })
    expect(overlay.diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'provider_left_out `providers.lab.apiKey` needs the variable LAB_ACCESS, which is not set',
      'provider_left_out `providers.lab.headers.X-Team` needs the variable TEAM, which is not set',
    ])
    expect(overlayFor(['rehearsal', 'script/x.yaml', 'loop'], { config, environment: {} }).providers).toEqual({
      openai: { apiKey: 'sk-literal-1' },
    })
  })

  test('nothing in it can be changed', async () => {
    const config = await configOf({ [user]: settings })
    const overlay = overlayFor(['openai/x'], { config, environment: { A: '1' } })
    expect(() => Object.assign(overlay.variables, { A: '2' })).toThrow(TypeError)
    expect(() => Object.assign(overlay.providers.openai!, { baseURL: 'https://evil.example' })).toThrow(TypeError)
    expect(() => Object.assign(overlay, { secrets: {} })).toThrow(TypeError)
  })

  test('a secret that another of its name shadows is hidden too', async () => {
    const config = await configOf({
      '/project/.ai-agent.env': 'OPENAI_API_KEY=from-the-project',
      '/home/.ai-agent/.ai-agent.env': 'OPENAI_API_KEY=from-the-person\nNAME=Ann-of-the-hills',
    })
    const { secrets, variables } = overlayFor([], { config, environment: { OPENAI_API_KEY: 'from-the-process' } })
    expect(variables.OPENAI_API_KEY).toBe('from-the-project')
    expect(redactor(secrets).text('from-the-project from-the-person from-the-process Ann-of-the-hills')).toBe(
      '[redacted:OPENAI_API_KEY] [redacted:OPENAI_API_KEY (2)] [redacted:OPENAI_API_KEY (3)] Ann-of-the-hills',
    )
  })

  test('the variables of stronger layers go before those of weaker ones and of the environment', async () => {
    const config = await configOf({ '/project/.ai-agent.env': 'A=project', '/home/.ai-agent/.ai-agent.env': 'A=user\nB=user\nC=' })
    const { variables } = overlayFor([], { config, environment: { A: 'e', B: 'e', C: 'e', D: undefined } })
    expect({ ...variables }).toEqual({ A: 'project', B: 'user', C: 'e' })
    expect(Object.getPrototypeOf(variables)).toBeNull()
  })
})

describe('other sections', () => {
  test('are given as what they are', async () => {
    const config = await configOf({
      [user]: {
        queues: { openai: { concurrent: 8 } },
        pricing: { 'lab/x': { input: 1, output: 2 } },
        features: { plan: true },
        agents: ['./agents/*.ai', '/abs/b.ai', '${DIR}/c'],
        store: { path: '../state' },
      },
      '/project/.ai-agent.json': { queues: { openai: { perMinute: 5 } }, features: { plan: false } },
    })
    expect(queuesOf(config)).toEqual({ openai: { concurrent: 8, perMinute: 5 } })
    expect(pricesOf(config)).toEqual({ 'lab/x': { input: 1, output: 2 } })
    expect(featuresOf(config)).toEqual({ plan: false })
    const sources = { config, environment: { DIR: '/d' } }
    expect(agentPathsOf(sources)).toEqual(['/home/.ai-agent/agents/*.ai', '/abs/b.ai', '/d/c'])
    expect(storePathOf(sources)).toBe('/home/state')
  })

  test('may be left out', async () => {
    const config = await configOf({})
    const sources = { config, environment: {} }
    expect([queuesOf(config), pricesOf(config), featuresOf(config), agentPathsOf(sources), storePathOf(sources)]).toEqual([
      {},
      {},
      {},
      [],
      undefined,
    ])
  })
})
