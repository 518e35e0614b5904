// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

func TestLimitsOfFileWatches(t *testing.T) {
	t.Parallel()
	one, two := []cluster.Kind{cluster.InDocker}, []cluster.Kind{cluster.InDocker, cluster.InDocker}
	for name, c := range map[string]struct {
		instances, watches string
		watch              error
		kinds              []cluster.Kind
		state              State
		says               string
	}{
		"usual, one cluster": {"128", "65536", nil, one, OK, "65536 watches, 128 instances"},
		"usual, two clusters": {"128", "65536", nil, two, Warn,
			"max_user_watches=524288 fs.inotify.max_user_instances=512"},
		"ample, two clusters": {"8192", "1048576", nil, two, OK, ""},
		"one limit low":       {"128", "1048576", nil, two, Warn, "max_user_watches=1048576"},
		"low, without kind":   {"16", "4096", nil, []cluster.Kind{cluster.Embedded}, OK, ""},
		"low, one cluster":    {"16", "4096", nil, one, Warn, "too many open files"},
		"used up":             {"128", "65536", syscall.EMFILE, one, Fail, "none is left"},
		"not to be had at all": {"128", "65536", errors.New("function not implemented"), one, Fail,
			"function not implemented"},
		"a limit that is words": {"many", "65536", nil, one, Warn, "many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := healthy(t)
			d.Clusters = c.kinds
			d.Watch = func() error { return c.watch }
			d.ReadFile = func(path string) ([]byte, error) {
				switch {
				case strings.HasSuffix(path, "max_user_instances"):
					return []byte(c.instances + "\n"), nil
				case strings.HasSuffix(path, "max_user_watches"):
					return []byte(c.watches + "\n"), nil
				}
				return nil, os.ErrNotExist
			}
			got := check(t, d.Examine(t.Context()), "inotify")
			require.Equal(t, c.state, got.State, "%v", got)
			require.Contains(t, got.String()+got.Fix, c.says)
		})
	}
}
