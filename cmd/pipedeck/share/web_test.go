// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// started serves an environment with the flags that a user gives.
func started(t *testing.T, arguments ...string) *Share {
	t.Helper()
	flags, cmd := &Flags{}, &cobra.Command{}
	flags.Bind(cmd)
	require.NoError(t, cmd.ParseFlags(arguments))
	s, err := flags.Start(t.Context(), subject(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// subject is an environment of a test.
func subject(t *testing.T) Subject {
	t.Helper()
	deck := decktest.Start(t)
	deck.Publish(decktest.Shop()...)
	client := deck.Dial(t)
	return Subject{Name: "demo", Dir: t.TempDir(), Flags: " --name demo", Mode: page.ModeLive,
		Connect: func(context.Context) (deckv1.DeckServiceClient, func(), error) { return client, func() {}, nil }}
}

// first returns what a stream of the page begins with, after its token has opened it.
func first(t *testing.T, address string, client *http.Client) string {
	t.Helper()
	stream := opened(t, address, client)
	defer stream.Body.Close()
	beginning := make([]byte, 512)
	n, err := io.ReadAtLeast(stream.Body, beginning, 64)
	require.NoError(t, err)
	return string(beginning[:n])
}

// opened is a stream of the page, after its token has opened that.
func opened(t *testing.T, address string, client *http.Client) *http.Response {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	token, found := strings.CutPrefix(at.Fragment, "token=")
	require.True(t, found)
	at.Fragment, at.Path = "", "/session"
	answer, err := client.Post(at.String(), "", strings.NewReader(token))
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.Len(t, answer.Cookies(), 1)
	require.Equal(t, at.Scheme == "https", answer.Cookies()[0].Secure)
	at.Path = "/events"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.String(), nil)
	require.NoError(t, err)
	r.AddCookie(answer.Cookies()[0])
	stream, err := client.Do(r)
	require.NoError(t, err)
	return stream
}

func TestAPageIsServedToThisMachine(t *testing.T) {
	t.Parallel()
	s := started(t, "--serve-web")
	require.Len(t, s.Addresses(), 1)
	at := s.Addresses()[0]
	require.True(t, strings.HasPrefix(at.Text, "http://127.0.0.1:"), at.Text)
	require.Empty(t, at.Notes)
	require.Contains(t, first(t, at.Text, &http.Client{Transport: &http.Transport{}}), "event: hello")
	ways := s.UI().Ways()
	require.Equal(t, []string{"reached from this machine alone; phones and other machines need --serve-web=HOST:PORT"},
		ways[0].Notes)
	host, _, _ := strings.Cut(strings.TrimPrefix(at.Text, "http://"), "/")
	s.Close()
	_, err := net.Dial("tcp", host)
	require.Error(t, err, "it ends with the command")
}

func TestOtherMachinesWatchOverTLSWithTheCertificateThatIsShown(t *testing.T) {
	t.Parallel()
	web, err := listen("--serve-web", "127.0.0.1:0")
	require.NoError(t, err)
	web.host, web.public = "0.0.0.0", true // as if: no test listens for other machines
	s := &Share{}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	require.NoError(t, s.serveWeb(ctx, web, subject(t)))
	t.Cleanup(s.Close)
	at := s.Addresses()[0]
	require.True(t, strings.HasPrefix(at.Text, "https://"), at.Text)
	require.Contains(t, strings.Join(at.Notes, "\n"), "warning: everyone who can reach this machine")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(strings.Split(at.Text, "/#")[0], "https://"))
	require.NoError(t, err)
	local := "https://127.0.0.1:" + port + "/#" + strings.Split(at.Text, "#")[1]
	seen := ""
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // the fingerprint is compared instead
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			seen = strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(raw[0])), " ", ":")
			return nil
		},
	}}}
	require.Contains(t, first(t, local, client), "event: hello")
	require.Contains(t, strings.Join(at.Notes, "\n"), seen)
	plain, err := http.Get("http://127.0.0.1:" + port + "/")
	require.NoError(t, err)
	require.NoError(t, plain.Body.Close())
	require.Equal(t, http.StatusBadRequest, plain.StatusCode)
}

func TestAWrongAddressEndsTheCommandEarly(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for _, wrong := range []string{"x", "127.0.0.1", "127.0.0.1:99999", "256.0.0.1:0", taken.Addr().String()} {
		f := &Flags{web: wrong}
		s, err := f.Start(t.Context(), Subject{})
		require.ErrorContains(t, err, "--serve-web="+wrong, wrong)
		require.Nil(t, s)
	}
	s, err := (&Flags{}).Start(t.Context(), Subject{})
	require.NoError(t, err)
	require.Empty(t, s.Addresses())
	s.Close()
}

func TestAnAddressAfterABlankIsNamed(t *testing.T) {
	t.Parallel()
	run := func(args ...string) error {
		cmd := &cobra.Command{Args: cobra.MaximumNArgs(1), SilenceErrors: true, SilenceUsage: true,
			RunE: func(*cobra.Command, []string) error { return nil }}
		(&Flags{}).Bind(cmd)
		cmd.SetArgs(args)
		return cmd.ExecuteContext(t.Context())
	}
	for _, flag := range []string{"--serve-web", "--serve-ssh"} {
		err := run(flag, "0.0.0.0:8443")
		require.EqualError(t, err, flag+" takes its address after =, not after a blank")
		var wrong *exit.Error
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, "write "+flag+"=0.0.0.0:8443", wrong.Hint)
		require.NoError(t, run(flag+"=0.0.0.0:8443", "dir"))
		require.NoError(t, run(flag, "dir"))
		require.NoError(t, run(flag, "C:dir"))
	}
	require.NoError(t, run("127.0.0.1:80"))
	require.Error(t, run("one", "two"), "the check of the command stays")
	dir := t.TempDir() + "/a:80"
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, run("--serve-web", dir))
}
