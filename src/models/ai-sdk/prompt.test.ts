import { describe, expect, it } from 'vitest'
import type { InputPart } from '../../contracts/index.ts'
import { FailureError } from '../failures/index.ts'
import { toUserPart } from './prompt.ts'

const rules = { dialect: 'anthropic', supportedUrls: { 'image/*': [/^https:/], 'application/pdf': [/^https:\/\/docs\./] } } as const
const image = (data: string): InputPart => ({ type: 'image', mediaType: 'image/png', data })
const file = (mediaType: string, data: string): InputPart => ({ type: 'file', mediaType, data })

describe('what a user sends', () => {
  it.each([
    [image('AAAA'), { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } }],
    [image('data:image/gif;base64,R0lG'), { type: 'file', mediaType: 'image/gif', data: { type: 'data', data: 'R0lG' } }],
    [image('DATA:;base64,R0lG'), { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'R0lG' } }],
    [image('data:image/svg+xml,%3Csvg/%3E'), { type: 'file', mediaType: 'image/svg+xml', data: { type: 'data', data: 'PHN2Zy8+' } }],
    [
      image('https://a.example/x.png'),
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://a.example/x.png') } },
    ],
    [
      file('application/pdf', 'https://docs.example/x.pdf'),
      { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url: new URL('https://docs.example/x.pdf') } },
    ],
    [file('application/vnd.api+json', 'e30='), { type: 'text', text: 'File (application/vnd.api+json):\n\n{}' }],
    [file('application/zip', 'UEs='), { type: 'file', mediaType: 'application/zip', data: { type: 'data', data: 'UEs=' } }],
  ])('%j is put as the provider reads it', (part, expected) => {
    expect(toUserPart(part, rules)).toEqual(expected)
  })

  it.each([
    [image('http://a.example/x.png'), 'The address "http://a.example/x.png" cannot be read by a model.'],
    [image('file:///etc/passwd'), 'The address "file:///etc/passwd" cannot be read by a model.'],
    [image('data:image/png;base64'), 'The address "data:image/png;base64" has no data.'],
    [image('data:text/plain,%ZZ'), 'The address data:"%ZZ" is not encoded well.'],
    [file('application/pdf', 'https://other.example/x.pdf'), 'The provider does not read application/pdf from https://other.example.'],
    [file('audio/wav', 'https://docs.example/x.wav'), 'The provider does not read audio/wav from https://docs.example.'],
  ])('%j is refused before it is sent', (part, message) => {
    let thrown: unknown
    try {
      toUserPart(part, rules)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(FailureError)
    expect(thrown).toMatchObject({ failure: { class: 'config', message, remedy: expect.stringMatching(/\w/) } })
  })

  it('is left to servers that we know nothing about', () => {
    expect(toUserPart(image('https://a.example/x.png'), { dialect: 'openai-compatible', supportedUrls: {} })).toMatchObject({
      type: 'file',
    })
  })
})
