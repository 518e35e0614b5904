// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheInputOfAContainerEndsWithItsFirstClientOnlyWhenTheManifestSaysSo(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for name, once := range map[string]bool{"once": true, "kept": false} {
		pod := newPodOf(name, "input", "wait")
		pod.Spec.Containers[0].Stdin, pod.Spec.Containers[0].StdinOnce = true, once
		c.Run(pod, "10.244.0.1")
		c.await(t, pod, "it runs", isReady)
		inside, err := c.Inside(pod.UID, "main")
		require.NoError(t, err)
		_, err = io.WriteString(inside.Stdin, "one\n")
		require.NoError(t, err)
		require.NoError(t, inside.Stdin.Close())
		want := "got one\nthe input has ended\n"
		if !once {
			_, err = io.WriteString(inside.Stdin, "two\n")
			require.NoError(t, err)
			want = "got one\ngot two\n"
		}
		c.eventually(t, "it has read the input", func() bool { return c.output(t, pod, "main", false) == want })
	}
	pod := newPodOf("none", "input", "wait")
	c.Run(pod, "10.244.0.1")
	c.await(t, pod, "it runs", isReady)
	inside, err := c.Inside(pod.UID, "main")
	require.NoError(t, err)
	require.Nil(t, inside.Stdin)
}
