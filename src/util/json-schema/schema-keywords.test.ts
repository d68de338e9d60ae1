import { describe, expect, it } from 'vitest'
import { keywordShape, misspeltKeyword } from './schema-keywords.ts'

describe('keywordShape', () => {
  it('knows keywords, and nothing that objects merely inherit', () => {
    expect([keywordShape('properties'), keywordShape('minLength'), keywordShape('colour'), keywordShape('constructor')]).toEqual([
      'schema map',
      'count',
      undefined,
      undefined,
    ])
  })
})

describe('misspeltKeyword', () => {
  it.each([
    ['requred', 'required'],
    ['proprties', 'properties'],
    ['propeties', 'properties'],
    ['tpye', 'type'],
    ['typ', 'type'],
    ['enums', 'enum'],
    ['descripton', 'description'],
    ['minlength', 'minLength'],
    ['max_items', 'maxItems'],
    ['any_of', 'anyOf'],
    ['oneof', 'oneOf'],
    ['ref', '$ref'],
    ['defs', '$defs'],
    ['id', '$id'],
    ['additionalProperty', undefined],
    ['additionalPropertys', 'additionalProperties'],
    ['addtionalPropertes', 'additionalProperties'],
  ])('takes %j for %j', (word, keyword) => {
    expect(misspeltKeyword(word)).toBe(keyword)
  })

  it('lets words pass that people annotate with', () => {
    const words =
      'example note notes cost theme tile label name kind hint order unit units group icon widget placeholder tags help value values options optional ' +
      'source version enumNames enumDescriptions markdownDescription discriminator xml externalDocs propertyOrder errorMessage x-order x-required ui ui:widget ' +
      'instanceof tsType collectionFormat min max length size range display category sensitive secret internal visible hidden comment summary details'
    expect(words.split(' ').flatMap((word) => misspeltKeyword(word) ?? [])).toEqual([])
  })
})
