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
	"time"

	"github.com/kevinburke/ssh_config"
	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

// sshAccess knows how to log in to the server of an ssh remote.
type sshAccess struct {
	name name
	// key is a private key in PEM; empty for those of the ssh agent.
	key []byte
	// configFile is an ssh configuration; empty for the user's own.
	configFile string
	// alias is a host that stands for aliasOf, when that is not empty.
	alias, aliasOf string
	known          *knownHosts
	// idle bounds the silence of the ssh agent.
	idle time.Duration
}

// sshLogin is how to log in to an ssh server. The agent's connection, if any, is open until close.
type sshLogin struct {
	// address is host:port of the real host.
	address string
	config  *gossh.ClientConfig
	close   func()
}

// login takes the user and the real host from the remote, the alias, and the ssh configuration.
func (s *sshAccess) login(ctx context.Context, remote address.Address) (*sshLogin, error) {
	user, host, port, err := s.host(remote)
	if err != nil {
		return nil, err
	}
	login := &sshLogin{address: net.JoinHostPort(host, cmp.Or(port, "22"))}
	check, algorithms, err := s.known.check(login.address)
	if err != nil {
		return nil, err
	}
	method, end, err := s.method(ctx)
	if err != nil {
		return nil, err
	}
	login.close = end
	login.config = &gossh.ClientConfig{
		User: user, Auth: []gossh.AuthMethod{method}, HostKeyCallback: check, HostKeyAlgorithms: algorithms,
	}
	return login, nil
}

// method is the configured key, or else those of the agent.
func (s *sshAccess) method(ctx context.Context) (_ gossh.AuthMethod, end func(), err error) {
	if len(s.key) == 0 {
		return s.agent(ctx)
	}
	signer, err := gossh.ParsePrivateKey(s.key)
	var locked *gossh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, nil, s.name.problem(
			ErrAuth,
			"the ssh key is encrypted with a passphrase, which piped cannot ask for: "+
				"create a key for piped without one (ssh-keygen -t ed25519 -N '' -f piped-key), "+
				"or load this one into an ssh agent (ssh-add) and configure none",
		)
	}
	if err != nil {
		return nil, nil, s.name.problem(
			ErrAuth, fmt.Sprintf("the ssh key cannot be read (%v): want an unencrypted private key in PEM", err),
		)
	}
	return gossh.PublicKeys(signer), func() {}, nil
}

func (s *sshAccess) agent(ctx context.Context) (_ gossh.AuthMethod, end func(), err error) {
	const hint = "there is no key and no ssh agent (%v): set git.sshKeyFile in the piped configuration"
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, s.name.problem(ErrAuth, fmt.Sprintf(hint, "SSH_AUTH_SOCK is not set"))
	}
	conn, err := (&net.Dialer{Timeout: connectTimeout}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, s.name.problem(ErrAuth, fmt.Sprintf(hint, err))
	}
	// An agent may ask its user, for as long as a server may be silent.
	asking := &idleConn{Conn: conn, idle: s.idle}
	return gossh.PublicKeysCallback(agent.NewClient(asking).Signers), func() { conn.Close() }, nil
}

// host is who logs in where; the port is empty for ssh's own.
func (s *sshAccess) host(remote address.Address) (user, host, port string, err error) {
	user, host, port = remote.User, remote.Host, remote.Port
	setting, err := s.settings()
	if err != nil {
		return "", "", "", err
	}
	if setting != nil {
		host = cmp.Or(setting(remote.Host, "HostName"), host)
		user = cmp.Or(user, setting(remote.Host, "User"))
		if port == "" {
			if port = setting(remote.Host, "Port"); port == "22" {
				port = ""
			}
		}
	}
	if s.aliasOf != "" && s.alias == remote.Host {
		host = s.aliasOf
	}
	return cmp.Or(user, "git"), host, port, nil
}

// settings looks a key of the ssh configuration up for a host. PipeCD v1 creates the configured file when it
// is missing; there is nothing to create here.
func (s *sshAccess) settings() (func(host, key string) string, error) {
	if s.configFile == "" {
		return ssh_config.Get, nil
	}
	file, err := os.Open(s.configFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the ssh configuration (git.sshConfigFilePath): %w", err)
	}
	defer file.Close()
	settings, err := ssh_config.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("read the ssh configuration %s (git.sshConfigFilePath): %w", s.configFile, err)
	}
	return func(host, key string) string { value, _ := settings.Get(host, key); return value }, nil
}
