# Calls the completion function of pipedeck with the words that bash would give it.
source /usr/share/bash-completion/bash_completion
source <(pipedeck completion bash)
function=$(complete -p pipedeck | sed 's/.*-F \([^ ]*\).*/\1/')
# compopt is refused outside of a completion; whether files are wanted is noted instead.
compopt() { if [ "$*" = "+o default" ]; then files=; fi; }
type() { if [ "$*" = "-t compopt" ]; then echo builtin; else builtin type "$@"; fi; }
for COMP_LINE in "$@"; do
  echo "> $COMP_LINE"
  COMP_POINT=${#COMP_LINE} COMP_TYPE=63 COMP_KEY=9 files=yes
  # bash breaks words at blanks, and at = and : within them.
  mapfile -t COMP_WORDS < <(printf '%s' "$COMP_LINE" | sed 's/[=:]\+/\n&\n/g; s/ \+/\n/g' | sed '$!{/^$/d}')
  if [[ $COMP_LINE == *[=:\ ] ]]; then COMP_WORDS+=(''); fi
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
  "$function" pipedeck "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
  if [ ${#COMPREPLY[@]} -gt 0 ]; then
    printf '%s\n' "${COMPREPLY[@]}"
  elif [ -n "$files" ]; then
    compgen -f -- "${COMP_WORDS[COMP_CWORD]}"
  fi
done
exit 0
