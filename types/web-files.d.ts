// Style sheets are bundled by vite.
declare module '*.css'
