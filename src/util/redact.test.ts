import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../contracts/index.ts'
import { redactor } from './redact.ts'

const secret = 'p@ss "word"/+é'
const hidden = '[redacted:DB_PASSWORD]'
const { text, json } = redactor({ DB_PASSWORD: secret, HOME: '/home/someone', API_KEY: 'sk-12345678' })

describe('redactor', () => {
  it('hides secrets and leaves the rest', () => {
    expect(text(`a ${secret} b sk-12345678 c /home/someone`)).toBe(`a ${hidden} b [redacted:API_KEY] c /home/someone`)
  })

  it.each([
    ['base64', Buffer.from(secret).toString('base64')],
    ['base64 for URLs', Buffer.from(secret).toString('base64url')],
    ['a URL', encodeURIComponent(secret)],
    ['a URL with small letters', encodeURIComponent(secret).replaceAll(/%../g, (octet) => octet.toLowerCase())],
    ['a form', new URLSearchParams({ x: secret }).toString().slice(2)],
    ['JSON', JSON.stringify(secret).slice(1, -1)],
    ['JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ['JSON in ASCII', JSON.stringify(secret).slice(1, -1).replace('é', '\\u00e9')],
  ])('hides it in %s', (_, written) => {
    expect(text(`<${written}>`)).toBe(`<${hidden}>`)
  })

  it.each(['', 'u', 'us', 'user:'])('hides it in base64 after %j', (before) => {
    const found = text(Buffer.from(`${before}${secret}!?`).toString('base64'))
    expect(found).toContain(hidden)
    expect(found.length).toBeLessThan(hidden.length + 16)
  })

  it('hides it without the line end that its file had', () => {
    expect(redactor({ TOKEN: 'abc123def\n' }).text('token abc123def.')).toBe('token [redacted:TOKEN].')
  })

  it('hides the longer of two that begin alike, and what one leaves of another', () => {
    const both = redactor({ A_KEY: 'abcdef', B_KEY: 'abcdefghi', C_KEY: 'hijklm' })
    expect(both.text('abcdefghi abcdef abcdefghijklm')).toBe('[redacted:B_KEY] [redacted:A_KEY] [redacted:B_KEY]')
  })

  it('gives the same name whatever the order of the variables', () => {
    expect(redactor({ Z_KEY: 'same-value', A_KEY: 'same-value' }).text('same-value')).toBe('[redacted:A_KEY]')
  })

  it('does not look into its own marks', () => {
    expect(redactor({ A_KEY: 'redacted', B_KEY: 'secret' }).text('secret redacted')).toBe('[redacted:B_KEY] [redacted:A_KEY]')
  })

  it('takes secrets for texts, not for patterns', () => {
    expect(redactor({ A_KEY: '.*$&(x)' }).text('anything .*$&(x)')).toBe('anything [redacted:A_KEY]')
  })
})

describe('which variables are secret', () => {
  const isSecret = (name: string): boolean => redactor({ [name]: 'some-long-value' }).text('some-long-value') !== 'some-long-value'

  it('tells by the words of the name', () => {
    const names =
      'API_KEY apiKey OPENAI_API_KEYS SSHKEY key GITHUB_TOKEN githubToken ACCESSTOKEN TOKENS client-secret SECRETS PGPASSWORD password MYSQL_PASSWD SSH_PASSPHRASE ' +
      'AWS_CREDENTIALS BASIC_AUTH OAUTH AUTH0_DOMAIN AUTHORIZATION PRIVATE_PEM SENTRY_DSN KEY2 My.Key APIKeyId'
    expect(names.split(' ').filter((name) => !isSecret(name))).toEqual([])
  })

  it('does not stumble over words that only look alike', () => {
    const names =
      'KEYBOARD KEYWORDS KEYCLOAK_URL MONKEY TURKEY_REGION AUTHOR GIT_AUTHOR_NAME AUTHORITY TOKENIZER TOKENIZERS_PARALLELISM SECRETARY MAX_TOKENS PATH HOME PWD PRIVATELY'
    expect(names.split(' ').filter(isSecret)).toEqual([])
  })

  it('does not hide what is too short to be one', () => {
    expect(redactor({ API_KEY: '12345', TOKEN: ' true ' }).text('12345 true')).toBe('12345 true')
  })
})

describe('json', () => {
  it('hides in values and keys at any depth', () => {
    const value: Json = { list: [1, `x ${secret}`, { [`k-${secret}`]: null }], plain: 'y' }
    expect(json(value)).toEqual({ list: [1, `x ${hidden}`, { [`k-${hidden}`]: null }], plain: 'y' })
  })

  it('hides digits also in numbers', () => {
    expect(redactor({ PIN_SECRET: '123456' }).json({ pin: 123456, other: 7 })).toEqual({ pin: '[redacted:PIN_SECRET]', other: 7 })
  })

  it('keeps the parts that did not change', () => {
    const kept = { deep: ['x'] }
    const value: Json = { kept, changed: secret }
    expect((json(value) as { kept: Json }).kept).toBe(kept)
  })

  it('keeps a key called __proto__', () => {
    expect(JSON.stringify(json(JSON.parse(`{"__proto__":"sk-12345678"}`)))).toBe('{"__proto__":"[redacted:API_KEY]"}')
  })

  it('answers the same value when there is nothing to hide', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(json(value as Json)).toBe(value)
      }),
    )
  })
})

describe('without secrets', () => {
  it('leaves everything as it is', () => {
    const value = { a: ['x'] }
    expect(redactor({}).json(value)).toBe(value)
  })
})

describe('whatever the secrets and the text', () => {
  it('none is left', () => {
    const value = fc.string({ minLength: 6, maxLength: 12 }).filter((each) => each.trim().length >= 6)
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 4 }),
        fc.array(fc.string(), { minLength: 1, maxLength: 5 }),
        (values, others) => {
          const overlay = Object.fromEntries(values.map((each, index) => [`KEY_${index}`, each]))
          const found = redactor(overlay).text(others.map((other, index) => `${other}${values[index % values.length]}`).join(''))
          const outside = found.replaceAll(/\[redacted:KEY_\d\]/g, '\0')
          expect(values.filter((each) => outside.includes(each))).toEqual([])
        },
      ),
    )
  })

  it('takes time in proportion to the text', () => {
    const many = redactor(
      Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`KEY_${index}`, `secret-value-${index}-${'x'.repeat(20)}`])),
    )
    const started = performance.now()
    many.text('secret-value-'.repeat(80_000))
    many.text('secret-value-1-xxxxxxxxxxxxxxxxxxxx'.repeat(30_000))
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})

describe('tokens of Troupe', () => {
  const token = `trp_my-ci.2_${'aB3_-'.repeat(6)}xy`

  it('are redacted by their form, wherever they are and whatever is secret here', () => {
    for (const { text, json } of [redactor(), redactor({ API_KEY: 'sk-12345678' })]) {
      expect(text(`http://localhost/#token=${token}, ${token}.`)).toBe(
        'http://localhost/#token=[redacted:TROUPE_TOKEN], [redacted:TROUPE_TOKEN].',
      )
      expect(json({ [token]: [`x${token}`] })).toEqual({ '[redacted:TROUPE_TOKEN]': ['x[redacted:TROUPE_TOKEN]'] })
      expect(text('trp_my_name is too short, and so is trp_')).toBe('trp_my_name is too short, and so is trp_')
    }
  })

  it('are redacted in pieces of any size; words that begin alike are not held back', () => {
    for (let size = 1; size < 50; size++) {
      const shown = redactor().stream()
      const whole = `It is ${token}, and not trp_local_x. {"key_${token}":"\\n${token}"}`
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => shown.push(whole.slice(i * size, (i + 1) * size)))
      expect([...pieces, shown.end()].join('')).toBe(
        'It is [redacted:TROUPE_TOKEN], and not trp_local_x. {"key_[redacted:TROUPE_TOKEN]":"\\n[redacted:TROUPE_TOKEN]"}',
      )
    }
    expect(redactor().stream().push('wait for the start')).toBe('wait for the start')
  })
})
