// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/stretchr/testify/require"
)

type discard struct{ io.Writer }

func (discard) Close() error { return nil }

// answering is a session with a server that says this.
func answering(text string) *stream {
	return &stream{in: discard{io.Discard}, out: strings.NewReader(text), close: func() {}}
}

// packet is a line of Git's protocol.
func packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

func advertisement() string {
	return packet(
		"0123456789012345678901234567890123456789 refs/heads/main\x00shallow thin-pack side-band-64k no-progress "+
			"ofs-delta\n",
	) + "0000"
}

func TestAnswersOfServersAreUnderstood(t *testing.T) {
	t.Parallel()
	refs, err := answering(advertisement()).AdvertisedReferencesContext(t.Context())
	require.NoError(t, err)
	require.Equal(
		t, map[string]plumbing.Hash{"refs/heads/main": plumbing.NewHash("0123456789012345678901234567890123456789")},
		refs.References,
	)
	for answer, want := range map[string]error{
		"0000": transport.ErrEmptyRemoteRepository,
		packet("ERR Repository not found. Or you may not read.\n"):       transport.ErrRepositoryNotFound,
		packet("ERR access denied or repository not exported: /a.git\n"): transport.ErrRepositoryNotFound,
	} {
		_, err := answering(answer).AdvertisedReferencesContext(t.Context())
		require.ErrorIs(t, err, want, answer)
	}
	for answer, want := range map[string]string{
		"": "empty", packet("ERR the disk is on fire\n"): `the server answered: "the disk is on fire"`,
		"hello": "pkt-len", "0010": "EOF",
	} {
		_, err := answering(answer).AdvertisedReferencesContext(t.Context())
		require.ErrorContains(t, err, want, answer)
	}
	silent := answering("")
	silent.complaint = func() string { return "fatal: '/a' does not appear to be a git repository\n" }
	_, err = silent.AdvertisedReferencesContext(t.Context())
	require.ErrorIs(t, err, transport.ErrRepositoryNotFound)
}

func TestWhatIsKeptOfComplaintsIsBounded(t *testing.T) {
	t.Parallel()
	c := &complaints{}
	for range 10 {
		n, err := c.Write(make([]byte, maxComplaint/3))
		require.NoError(t, err)
		require.Equal(t, maxComplaint/3, n)
	}
	require.Len(t, c.String(), maxComplaint)
}

func FuzzAnswersOfServers(f *testing.F) {
	f.Add(
		[]byte(
			advertisement() + packet(
				"shallow 0123456789012345678901234567890123456789",
			) + "0000" + packet("NAK\n") + packet("\x01PACK") + packet("\x02so far\n") + "0000",
		),
	)
	f.Add([]byte(packet("ERR Repository not found.\n")))
	f.Add([]byte("0000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &stream{in: discard{io.Discard}, out: bytes.NewReader(data), close: func() {}}
		defer s.Close()
		refs, err := s.AdvertisedReferencesContext(t.Context())
		if err != nil {
			return
		}
		for _, id := range refs.References {
			want := wanted{
				id: id, depth: 1, haves: []plumbing.Hash{plumbing.NewHash("0123456789012345678901234567890123456789")},
			}
			_ = want.fetch(t.Context(), s, refs, func(read io.Reader) error {
				_, err := io.Copy(io.Discard, read)
				return err
			})
			return
		}
	})
}
