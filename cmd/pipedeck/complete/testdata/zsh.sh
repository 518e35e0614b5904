# Types each line into an interactive zsh, and has it list the choices.
zmodload zsh/zpty
zpty z zsh -f -i
# await waits until the shell has printed a text and then its prompt.
await() {
  local part
  text=
  while zpty -r z part; do
    text+=$part
    [[ $text == *$1*@prompt@* ]] && return
  done
}
zpty -w z "PS1=@prompt''@$'\n' PS2= RPS1= COLUMNS=250 LISTMAX=1000; unsetopt prompt_cr prompt_sp; unset zle_bracketed_paste"
zpty -w z "autoload -Uz compinit; compinit -u -D; source <(pipedeck completion zsh); bindkey '^I' list-choices"
zpty -w z "print RE''ADY"
await READY
for line in "$@"; do
  print -r -- "> $line"
  # The key of completion; then the line is removed, and a command prints where its list ends.
  zpty -n -w z "$line"$'\t\x15'"print LI''STED"$'\n'
  await LISTED
  print -r -- "${${text%%print LI*}//$'\r'/}"
done
zpty -d z
