// Style sheets go to the bundler.
declare module '*.css';
