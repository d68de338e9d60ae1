// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that

/** An example of both sections. The tests load it. */
export const httpExample = {
  restTools: {
    weather: {
      description: 'Current weather of a city.',
      url: 'https://api.example.com/weather?city={city}',
      auth: { bearer: '${WEATHER_TOKEN}' },
      result: '$.current',
    },
  },
  openapi: { petstore: { spec: './petstore.yaml', include: ['list*'], auth: { schemes: { api_key: '${PETSTORE_KEY}' } } } },
}

const shared = (key: string): { readonly [key: string]: string } => ({
  [`${key}.headers.<name>`]: 'an HTTP header for every request',
  [`${key}.auth.bearer`]: 'a token for `Authorization: Bearer`',
  [`${key}.auth.basic.user`]: 'the user of HTTP basic authentication',
  [`${key}.auth.basic.password`]: 'its password',
  [`${key}.auth.header.name`]: 'the header that has the key',
  [`${key}.auth.header.value`]: 'the key',
  [`${key}.auth.query.name`]: 'the query parameter that has the key',
  [`${key}.auth.query.value`]: 'the key',
  [`${key}.queue`]: 'a queue that limits the calls, besides the one with `<name>`',
  [`${key}.redirects`]: 'other hosts that the server may redirect to; they get no credentials',
})

export const httpKeyTexts: { readonly [key: string]: string } = {
  'restTools.<name>.description': 'what models read about the tool',
  'restTools.<name>.method': 'the HTTP method; default: `GET`',
  'restTools.<name>.url': 'the URL; `{name}` is a parameter, but not in the host',
  'restTools.<name>.result': 'JSON path of the part of the response that models get; default: all of it',
  'restTools.<name>.pagination.by': 'how the next page is found',
  'restTools.<name>.pagination.parameter': 'the parameter for the cursor, page or offset',
  'restTools.<name>.pagination.next': 'JSON path of the cursor or the next URL; default for `link`: the `Link` header',
  'restTools.<name>.pagination.start': 'the first number; default: 1 for `page`, 0 for `offset`',
  'restTools.<name>.pagination.maxPages': 'pages of one call; default: 10',
  'restTools.<name>.pagination.maxItems': 'entries of one call; default: 1000',
  'restTools.<name>.effect': 'default: `read` for GET and HEAD, otherwise `write`',
  ...shared('restTools.<name>'),
  'openapi.<name>.spec': 'the OpenAPI document, 3.0 or 3.1, JSON or YAML: a file relative to this one, or a URL',
  'openapi.<name>.baseUrl': 'replaces the servers of the document',
  'openapi.<name>.include': 'patterns of operations, such as `listPets`, `get*` or `GET /pets/*`; default: all',
  'openapi.<name>.exclude': 'patterns of operations to leave out',
  'openapi.<name>.auth.schemes.<name>': 'the value for a security scheme of the document; for HTTP basic `user:password`',
  ...shared('openapi.<name>'),
}

export const httpSection: readonly string[] = [
  '## REST tools and OpenAPI documents',
  'A REST tool is listed by its name: `tools: [weather]`. Operations of a document are listed as `petstore/listPets` or `petstore/*`; models see `petstore__listPets`. Rules use the same names, with the host in parentheses: `weather(api.example.com)`. Every call needs approval unless a rule allows it.',
  '`parameters.<name>` of a REST tool is a JSON Schema with two more keys. `in` is `path`, `query`, `header` or `body`; default: `path` if the URL has `{name}`, else `query`, or `body` for POST, PUT and PATCH. `required: true` makes it required; parameters of the path always are. A parameter of the URL without an entry is a required string.',
  'A JSON path is a subset of RFC 9535: `$.data.items[0].name`, `items[*].id`, `["odd key"]`. `$.` can be omitted. With `pagination`, `result` is the list in each page, and models get the entries of all pages. A limit that stops it is reported to the model. Integers that JavaScript cannot represent become strings.',
  '`${NAME}` in headers and `auth` is a variable of the session; a call fails if it is not set. Values of credentials never appear in events, results or errors. They are sent only to the origin of the URL. Redirects to another host are refused, unless `redirects` lists `host` or `host:port`. GET and HEAD follow redirects; other methods do not.',
  'A private or loopback address is allowed only for the host of `url`, `baseUrl` or a `spec` URL. The document at a URL can name only its own origin as server; for another one, set `baseUrl`. A document in a file is trusted together with the configuration, and a change must be trusted again. A document at a URL is fetched when the first session uses it, without credentials, and kept until the process ends.',
  'An operation that cannot be a tool, such as one with a multipart body or a reference to another document, is reported and left out. A document that cannot be read costs only its own tools. A document can have up to 20 MB of JSON or 3 MB of YAML, and gives up to 500 tools; in a project, a file can have up to 4 MB.',
  'The strongest layer that has a name defines the whole tool: layers are not merged by key.',
]
