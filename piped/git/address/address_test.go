// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package address

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRemotesAreTakenApart(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]Address{
		"git@example.com:a/b.git": {Scheme: "ssh", User: "git", Host: "example.com", Path: "a/b.git"},
		"example.com:/a/b":        {Scheme: "ssh", Host: "example.com", Path: "/a/b"},
		"git@127.0.0.1:2222:/a/b": {
			Scheme: "ssh", User: "git", Host: "127.0.0.1", Port: "2222", Path: "/a/b",
		},
		"ssh://git@example.com:2222/a/b.git": {
			Scheme: "ssh", User: "git", Host: "example.com", Port: "2222", Path: "/a/b.git",
		},
		"git+ssh://example.com/a": {Scheme: "ssh", Host: "example.com", Path: "/a"},
		"HTTPS://ada:s%40crt@example.com/a": {
			Scheme: "https", User: "ada", Password: "s@crt", Host: "example.com", Path: "/a",
		},
		"http://[::1]:8080/a": {Scheme: "http", Host: "::1", Port: "8080", Path: "/a"},
		"git://example.com/a": {Scheme: "git", Host: "example.com", Path: "/a"},
		"file:///a%20b/c":     {Scheme: "file", Path: "/a b/c"},
		"file://localhost/a":  {Scheme: "file", Path: "/a"},
		"file:///100%/a":      {Scheme: "file", Path: "/100%/a"},
		"/a/b":                {Scheme: "file", Path: "/a/b"},
		"./a:b":               {Scheme: "file", Path: "./a:b"},
		"relative/x":          {Scheme: "file", Path: "relative/x"},
	} {
		got, err := Parse(remote)
		require.NoError(t, err, remote)
		require.Equal(t, want, got, remote)
	}
}

func TestRemotesThatAreNoneAreRefusedWithoutTheirPassword(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]string{
		"":                                    "is empty",
		strings.Repeat("a", maxRemote+1):      "longer than 4096 bytes",
		"https://example.com/a\nb":            "control character",
		"file:///a%00b":                       "control character",
		"file://host/a":                       "absolute path and no host",
		"rsync://ada:hunter2@example.com/a":   "unknown scheme",
		"https://ada:hunter2%zz@example.com/": "cannot be read as a URL",
		"https:///a":                          "names no host",
		"ssh://-oProxyCommand=x/a":            "names no host",
		"https://ada:hunter2@example.com/":    "names no repository",
		"git@example.com:":                    "names no repository",
		"ext::sh -c 'touch x' hunter2":        "names a program for Git to run",
		"fd::17":                              "names a program for Git to run",
		"a+b::https://example.com/a":          "names a program for Git to run",
		"--upload-pack=touch":                 "begins with a dash",
		"ssh://example.com:99999/a":           "the port 99999",
		"https://example.com:0/a":             "the port 0",
		"git@example.com:99999:a":             "the port 99999",
	} {
		_, err := Parse(remote)
		require.ErrorContains(t, err, want, remote)
		require.NotContains(t, err.Error(), "hunter2")
		require.NotContains(t, WithoutCredentials(remote), "hunter2")
	}
	require.Equal(t, "https://example.com/a", WithoutCredentials("https://ada:hunter2@example.com/a"))
	require.Equal(t, "file:///a%20b", WithoutCredentials("file:///a%20b"))
}

func TestNamesOfBranchesFollowTheRulesOfGit(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{
		"main": true, "feature/a-b_c.d": true, "ümlaut": true, "@": false, "a@b": true, "refs/heads/main": true,
		"": false, "--upload-pack=touch x": false, "-x": false, "a..b": false, "a b": false, "a~1": false, "a^": false,
		"a:b": false,
		"a?":  false, "a*": false, "[a": false, `a\b`: false, "a@{1}": false, ".a": false, "a/.b": false, "a.": false,
		"a/": false, "/a": false,
		"a//b": false, "a.lock": false, "a.lock/b": false, "a\x00b": false, "a\x7f": false, "HEAD": false,
		"\xff": false,
	} {
		if err := CheckBranch(name); ok {
			require.NoError(t, err, "%q", name)
		} else {
			require.ErrorContains(t, err, "is not the name of a branch", "%q", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, remote := range []string{
		"git@example.com:a/b.git", "ssh://git@[::1]:22/a?b#c", "https://u:p@h/a", "file:///a%20b", "a:b:c", "://",
		"x://@:/", "h:22:a",
	} {
		f.Add(remote)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		a, err := Parse(remote)
		if err != nil {
			return
		}
		shown := a.String()
		if a.Scheme == "file" {
			return
		}
		again, err := Parse(WithoutCredentials(remote))
		if a.Password != "" && len(a.Password) > 8 && strings.Contains(shown, a.Password) && !strings.Contains(
			a.Path+a.Host, a.Password,
		) {
			t.Fatalf("%q shows its password: %q", remote, shown)
		}
		if err == nil && again.Scheme != "file" &&
			(again.Password != "" || again.Host != a.Host || again.Port != a.Port) {
			t.Fatalf("%q is shown as another address: %+v, %+v", remote, a, again)
		}
	})
}
