// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/devenv/line"
)

// wrongNumber is how cobra reports a number of arguments that a command does not take.
var wrongNumber = regexp.MustCompile(
	`^(?:accepts|requires) (at most |at least |between \d+ and )?(\d+) arg\(s\), (?:only )?received (\d+)$`)

// exclusive is how cobra reports flags that exclude each other.
var exclusive = regexp.MustCompile(
	`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`)

// arguments puts cobra's errors of a wrong number of arguments, and of flags that exclude each other, in words; other
// errors are returned as they are.
func arguments(cmd *cobra.Command, err error) error {
	if said := exclusive.FindStringSubmatch(err.Error()); said != nil {
		return fmt.Errorf("give only one of --%s", strings.Join(strings.Fields(said[1]), ", --"))
	}
	said := wrongNumber.FindStringSubmatch(err.Error())
	if said == nil {
		return err
	}
	most, convErr := strconv.Atoi(said[2])
	if convErr != nil {
		return err
	}
	given := said[3]
	if given == "0" {
		given = "none"
	}
	// Without the program's name: it is no command to run, which would be given the flags of the environment.
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	return fmt.Errorf("%s takes %s%s, got %s", name, said[1], line.Count(most, "argument"), given)
}
