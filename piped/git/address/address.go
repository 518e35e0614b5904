// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package address

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxRemote bounds the length of a remote, in bytes.
const maxRemote = 4096

// helperForm is how Git names a remote helper: the rest of such a remote is an argument of the program
// git-remote-NAME, with ext:: any command.
var helperForm = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9+.-]*)::`)

// CheckBranch returns why a name cannot be the name of a branch by the rules of Git, and nil when it can.
func CheckBranch(name string) error {
	if err := plumbing.NewBranchReferenceName(
		name,
	).Validate(); err != nil || name == "HEAD" || !utf8.ValidString(name) {
		return fmt.Errorf(
			"%q is not the name of a branch: Git allows no space, no control character, none of ~^:?*[\\, no \"..\", "+
				"no dash or dot at the start, and no \".lock\", dot or slash at the end",
			name,
		)
	}
	return nil
}

// Address is a remote as users write it, taken apart.
type Address struct {
	// Scheme is ssh, git, http, https or file.
	Scheme string
	// User and Password may be empty. They are in no error and not in String.
	User, Password string
	// Host is empty for file. An IPv6 address has no brackets.
	Host string
	// Port is empty for the scheme's own.
	Port string
	// Path is what is after the host, with its first slash if it has one.
	Path string
}

// Parse reads a path, or a URL of one of the schemes (also git+ssh and ssh+git), or the form of scp
// (git@example.com:a/b.git). Its errors do not repeat the remote, which may hold a password.
func Parse(remote string) (Address, error) {
	switch {
	case remote == "":
		return Address{}, errors.New("the remote is empty")
	case len(remote) > maxRemote:
		return Address{}, fmt.Errorf("the remote is longer than %d bytes", maxRemote)
	case strings.ContainsFunc(remote, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Address{}, errors.New("the remote has a control character in it")
	}
	if helper := helperForm.FindStringSubmatch(remote); helper != nil {
		return Address{}, fmt.Errorf(
			"the remote %s:: names a program for Git to run, which piped does not do: use ssh, https, http, git or "+
				"file",
			helper[1],
		)
	}
	if scheme, rest, ok := strings.Cut(remote, "://"); ok {
		if strings.EqualFold(scheme, "file") {
			return parseFile(rest)
		}
		return parseURL(remote)
	}
	// The form of scp has a colon before the first slash.
	if before, path, ok := strings.Cut(remote, ":"); ok && !strings.Contains(before, "/") && before != "" {
		return parseSCP(before, path)
	}
	if strings.HasPrefix(remote, "-") {
		return Address{}, errors.New("the remote begins with a dash, as an option does: write ./ before a path")
	}
	return Address{Scheme: "file", Path: remote}, nil
}

func parseFile(rest string) (Address, error) {
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	path := strings.TrimPrefix(rest, "localhost")
	if !strings.HasPrefix(path, "/") {
		return Address{}, errors.New("a file URL needs an absolute path and no host: file:///path")
	}
	if strings.Contains(path, "\x00") {
		return Address{}, errors.New("the remote has a control character in it")
	}
	return Address{Scheme: "file", Path: path}, nil
}

func parseURL(remote string) (Address, error) {
	u, err := url.Parse(remote)
	if err != nil {
		return Address{}, errors.New(
			"the remote cannot be read as a URL; characters such as # % @ in user names and passwords are written as " +
				"%23 %25 %40",
		)
	}
	a := Address{Scheme: u.Scheme, User: u.User.Username(), Host: u.Hostname(), Port: u.Port(), Path: u.Path}
	a.Password, _ = u.User.Password()
	switch a.Scheme {
	case "git+ssh", "ssh+git":
		a.Scheme = "ssh"
	case "ssh", "git", "http", "https":
	default:
		return Address{}, errors.New("the remote has an unknown scheme: use ssh, https, http, git or file")
	}
	if u.RawQuery != "" {
		a.Path += "?" + u.RawQuery
	}
	return a, a.check()
}

func parseSCP(before, path string) (Address, error) {
	a := Address{Scheme: "ssh", Host: before, Path: path}
	if at := strings.LastIndex(before, "@"); at >= 0 {
		a.User, a.Host = before[:at], before[at+1:]
	}
	if port, rest, ok := strings.Cut(path, ":"); ok && port != "" && len(port) <= 5 && strings.Trim(
		port, "0123456789",
	) == "" {
		a.Port, a.Path = port, rest
	}
	return a, a.check()
}

func (a Address) check() error {
	switch {
	case a.Host == "" || strings.HasPrefix(a.Host, "-") || strings.ContainsAny(a.Host, " @/?#%[]\\"):
		return errors.New("the remote names no host")
	case strings.Trim(a.Path, "/") == "":
		return errors.New("the remote names no repository on its host")
	}
	if port, err := strconv.ParseUint(a.Port, 10, 16); a.Port != "" && (err != nil || port == 0) {
		return fmt.Errorf("the remote has the port %.20s: want 1 to 65535", a.Port)
	}
	return nil
}

// String is the remote without user and password, for messages.
func (a Address) String() string {
	if a.Scheme == "file" {
		return a.Path
	}
	host := a.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.Port != "" {
		host += ":" + a.Port
	}
	return a.Scheme + "://" + host + "/" + strings.TrimPrefix(a.Path, "/")
}

// WithoutCredentials is a remote for messages: as written if it holds no user, and never with a password.
func WithoutCredentials(remote string) string {
	a, err := Parse(remote)
	switch {
	case err != nil:
		return "(a remote that cannot be read)"
	case a.User == "" && a.Password == "":
		return remote
	default:
		return a.String()
	}
}
