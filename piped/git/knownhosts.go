// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
	gossh "golang.org/x/crypto/ssh"
	sshhosts "golang.org/x/crypto/ssh/knownhosts"
)

// hostKeyError is a server's key that is not the known one.
type hostKeyError struct {
	address string
	key     gossh.PublicKey
	err     error
}

// Error is the cause.
func (e *hostKeyError) Error() string { return e.err.Error() }

// Unwrap is the cause.
func (e *hostKeyError) Unwrap() error { return e.err }

// knownHosts are the files with the keys of ssh servers.
type knownHosts struct {
	name name
	// configured are the files of the options; empty for those of ssh.
	configured []string
}

// check returns what checks a server against the known hosts. The server is asked only for keys of the kinds that are
// known of it, so that it does not show another.
func (k *knownHosts) check(address string) (gossh.HostKeyCallback, []string, error) {
	known, err := ssh.NewKnownHostsDb(k.files()...)
	if err != nil {
		if k.exist() {
			return nil, nil, k.name.problem(ErrHostKey, fmt.Sprintf("the known hosts cannot be read: %v", err))
		}
		// Without a file no host is known; the key is inspected to say what to add.
		return func(_ string, _ net.Addr, key gossh.PublicKey) error {
			return &hostKeyError{address, key, &sshhosts.KeyError{}}
		}, shownKeys(), nil
	}
	check, algorithms := known.HostKeyCallback(), known.HostKeyAlgorithms(address)
	if len(algorithms) == 0 {
		algorithms = shownKeys()
	}
	return func(host string, remote net.Addr, key gossh.PublicKey) error {
		if err := check(host, remote, key); err != nil {
			return &hostKeyError{address, key, err}
		}
		return nil
	}, algorithms, nil
}

// shownKeys are the kinds of keys to ask a server for that is not known, in the order of preference of ssh: that key
// is shown to the user.
func shownKeys() []string {
	return []string{
		gossh.KeyAlgoED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521,
		gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256,
	}
}

// problem shows the key: its fingerprint is what operators publish, the line is what known_hosts lacks.
func (k *knownHosts) problem(e *hostKeyError) error {
	fingerprint := gossh.FingerprintSHA256(e.key)
	host := knownhosts.Normalize(e.address)
	switch {
	case knownhosts.IsHostKeyChanged(e.err):
		return k.name.problem(ErrHostKey, fmt.Sprintf("its key %s is not the one in %s: possible man-in-the-middle. "+
			"If the key was changed on purpose, remove the old one with ssh-keygen -R '%s' -f %[2]s and add the new "+
			"one",
			fingerprint, k.file(), host))
	case knownhosts.IsHostUnknown(e.err):
		return k.name.problem(ErrHostKey, fmt.Sprintf(
			"its key %s is not known: compare it with what its operator publishes, then add to %s the line: %s",
			fingerprint, k.file(), knownhosts.Line([]string{e.address}, e.key),
		))
	}
	var revoked *sshhosts.RevokedError
	if errors.As(e.err, &revoked) {
		return k.name.problem(ErrHostKey, "its key "+fingerprint+" is marked as revoked in known_hosts")
	}
	return k.name.problem(ErrHostKey, fmt.Sprintf("its key %s cannot be checked (%v)", fingerprint, e.err))
}

// file is the file that users add hosts to.
func (k *knownHosts) file() string {
	if len(k.configured) > 0 {
		return k.configured[0]
	}
	return "~/.ssh/known_hosts"
}

func (k *knownHosts) exist() bool {
	for _, file := range k.files() {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			return true
		}
	}
	return false
}

// files are the configured ones, or ssh's.
func (k *knownHosts) files() []string {
	if len(k.configured) > 0 {
		return k.configured
	}
	if files := filepath.SplitList(os.Getenv("SSH_KNOWN_HOSTS")); len(files) > 0 {
		return files
	}
	files := []string{"/etc/ssh/ssh_known_hosts"}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".ssh", "known_hosts"))
	}
	return files
}
