/** Whether a host name or an address is this machine only. */
export const isLoopback = (host: string): boolean => /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\]|::1)$/i.test(host)
