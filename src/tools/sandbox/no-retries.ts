/** Package managers wait for minutes where there is no network, and none will come: they are told not to try again. */
export const noRetries = { npm_config_fetch_retries: '0', PIP_RETRIES: '0', CARGO_NET_RETRY: '0' } as const
