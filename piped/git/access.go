// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/kevinburke/ssh_config"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// sshLogin is how to log in to an ssh server. The agent's connection, if any, is open until close.
type sshLogin struct {
	// address is host:port of the real host.
	address string
	config  *gossh.ClientConfig
	close   func()
}

// sshLogin takes the user and the real host from the remote, the alias, and the ssh configuration.
func (r *Repository) sshLogin(ctx context.Context) (*sshLogin, error) {
	user, host, port, err := r.sshHost()
	if err != nil {
		return nil, err
	}
	login := &sshLogin{address: net.JoinHostPort(host, cmp.Or(port, "22"))}
	check, algorithms, err := r.hostKeys(login.address)
	if err != nil {
		return nil, err
	}
	method, end, err := r.sshMethod(ctx)
	if err != nil {
		return nil, err
	}
	login.close = end
	login.config = &gossh.ClientConfig{
		User: user, Auth: []gossh.AuthMethod{method}, HostKeyCallback: check, HostKeyAlgorithms: algorithms,
	}
	return login, nil
}

// sshMethod is the configured key, or else those of the agent.
func (r *Repository) sshMethod(ctx context.Context) (_ gossh.AuthMethod, end func(), err error) {
	if len(r.options.SSHKey) == 0 {
		return r.sshAgent(ctx)
	}
	signer, err := gossh.ParsePrivateKey(r.options.SSHKey)
	var locked *gossh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, nil, r.problem(ErrAuth, "the ssh key is encrypted with a passphrase, which piped cannot ask for: make a key for piped without one (ssh-keygen -t ed25519 -N '' -f piped-key), or load this one into an ssh agent (ssh-add) and configure none")
	}
	if err != nil {
		return nil, nil, r.problem(ErrAuth, fmt.Sprintf("the ssh key cannot be read (%v): want an unencrypted private key in PEM", err))
	}
	return gossh.PublicKeys(signer), func() {}, nil
}

func (r *Repository) sshAgent(ctx context.Context) (_ gossh.AuthMethod, end func(), err error) {
	const hint = "there is no key and no ssh agent (%v): set git.sshKeyFile in the piped configuration"
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, r.problem(ErrAuth, fmt.Sprintf(hint, "SSH_AUTH_SOCK is not set"))
	}
	conn, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, r.problem(ErrAuth, fmt.Sprintf(hint, err))
	}
	// An agent may ask its user, for as long as a server may be silent.
	asking := &idleConn{Conn: conn, idle: r.options.Idle}
	return gossh.PublicKeysCallback(agent.NewClient(asking).Signers), func() { conn.Close() }, nil
}

// sshHost is who logs in where; the port is empty for ssh's own.
func (r *Repository) sshHost() (user, host, port string, err error) {
	user, host, port = r.address.User, r.address.Host, r.address.Port
	settings, err := r.sshSettings()
	if err != nil {
		return "", "", "", err
	}
	if settings != nil {
		host = cmp.Or(settings(r.address.Host, "HostName"), host)
		user = cmp.Or(user, settings(r.address.Host, "User"))
		if port == "" {
			if port = settings(r.address.Host, "Port"); port == "22" {
				port = ""
			}
		}
	}
	if r.options.SSHHostName != "" && r.options.SSHHost == r.address.Host {
		host = r.options.SSHHostName
	}
	return cmp.Or(user, "git"), host, port, nil
}

// sshSettings looks a key of the ssh configuration up for a host. PipeCD v1 makes the configured file when it
// is missing; there is nothing to make here.
func (r *Repository) sshSettings() (func(host, key string) string, error) {
	if r.options.SSHConfigFile == "" {
		return ssh_config.Get, nil
	}
	file, err := os.Open(r.options.SSHConfigFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the ssh configuration (git.sshConfigFilePath): %w", err)
	}
	defer file.Close()
	settings, err := ssh_config.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("read the ssh configuration %s (git.sshConfigFilePath): %w", r.options.SSHConfigFile, err)
	}
	return func(host, key string) string { value, _ := settings.Get(host, key); return value }, nil
}

// accessProblem knows what a server, or the check of the server, answers to somebody who may not go on; nil
// when the error is another one.
func (r *Repository) accessProblem(err error) error {
	// go-git hides the cause of these two.
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) {
		err = unexpected.Err
	}
	var permanent *plumbing.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Err
	}
	var key *hostKeyError
	var silent *silentError
	switch {
	case errors.As(err, &key):
		return r.hostKeyProblem(key)
	case errors.As(err, &silent):
		return r.problem(ErrSilent, fmt.Sprintf("nothing came for %s: check the network, the address and the state of the server", silent.after))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return r.problem(ErrNotRepository, "the server does not know it: check the remote and who may read it")
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed),
		strings.Contains(err.Error(), "ssh: unable to authenticate"):
		return r.problem(ErrAuth, "set git.username and git.password, or git.sshKeyFile, in the piped configuration, for all repositories or for this one")
	}
	return nil
}
