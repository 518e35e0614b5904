# fish completes a command line by itself.
pipedeck completion fish | source
for line in $argv
    echo "> $line"
    complete -C "$line"
end
