// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/kevinburke/ssh_config"
	"github.com/skeema/knownhosts"
	gossh "golang.org/x/crypto/ssh"
)

// connectTimeout bounds the TCP connection to an ssh server. What follows on it has no bound of its own.
const connectTimeout = 30 * time.Second

// access is where the repository is and how to log in there.
func (r *Repository) access() (url string, auth transport.AuthMethod, err error) {
	switch r.address.Scheme {
	case "file":
		return r.address.Path, nil, nil
	case "http", "https":
		if r.options.Password != "" {
			return r.options.Remote, &http.BasicAuth{Username: r.options.Username, Password: r.options.Password}, nil
		}
	case "ssh":
		return r.sshAccess()
	}
	return r.options.Remote, nil, nil
}

// sshAccess takes the user and the real host from the remote, the alias, and the ssh configuration.
func (r *Repository) sshAccess() (url string, auth transport.AuthMethod, err error) {
	user, host, port, err := r.sshHost()
	if err != nil {
		return "", nil, err
	}
	login := &sshLogin{user: user, knownHosts: r.options.KnownHosts, address: net.JoinHostPort(host, cmp.Or(port, "22"))}
	url = r.options.Remote
	if host != r.address.Host || port != r.address.Port {
		url = sshURL(host, port, r.address.Path)
	}
	if len(r.options.SSHKey) == 0 {
		agent, err := ssh.NewSSHAgentAuth(user)
		if err != nil {
			return "", nil, r.problem(ErrAuth, fmt.Sprintf("there is no key and no ssh agent (%v): set git.sshKeyFile in the piped configuration", err))
		}
		login.method = gossh.PublicKeysCallback(agent.Callback)
		return url, login, nil
	}
	signer, err := gossh.ParsePrivateKey(r.options.SSHKey)
	if err != nil {
		return "", nil, r.problem(ErrAuth, fmt.Sprintf("the ssh key cannot be read (%v): want an unencrypted private key in PEM", err))
	}
	login.method = gossh.PublicKeys(signer)
	return url, login, nil
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

// sshURL is another place for the same path. Relative paths need the form of scp.
func sshURL(host, port, path string) string {
	if strings.HasPrefix(path, "/") || strings.Contains(host, ":") {
		return Address{Scheme: "ssh", Host: host, Port: port, Path: path}.String()
	}
	return host + ":" + cmp.Or(port, "22") + ":" + path
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

// sshLogin checks the server against the known hosts.
type sshLogin struct {
	user       string
	method     gossh.AuthMethod
	knownHosts []string
	address    string
}

// Name is the kind of login.
func (*sshLogin) Name() string { return ssh.PublicKeysName }

// String shows no secret.
func (l *sshLogin) String() string { return "user " + l.user }

// ClientConfig asks only for keys of the kinds that are known of the server, so that it does not show another.
func (l *sshLogin) ClientConfig() (*gossh.ClientConfig, error) {
	known, err := ssh.NewKnownHostsDb(l.knownHosts...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoKnownHosts, err)
	}
	return &gossh.ClientConfig{
		User: l.user, Auth: []gossh.AuthMethod{l.method}, Timeout: connectTimeout,
		HostKeyCallback: known.HostKeyCallback(), HostKeyAlgorithms: known.HostKeyAlgorithms(l.address),
	}, nil
}

var errNoKnownHosts = errors.New("no known hosts")

// accessProblem knows what a server, or the check of the server, answers to somebody who may not go on; nil
// when the error is another one.
func (r *Repository) accessProblem(err error) error {
	scan := "ssh-keyscan " + r.address.Host + " >> ~/.ssh/known_hosts"
	if r.address.Port != "" {
		scan = "ssh-keyscan -p " + r.address.Port + " " + r.address.Host + " >> ~/.ssh/known_hosts"
	}
	switch {
	case knownhosts.IsHostKeyChanged(err):
		return r.problem(ErrHostKey, "its key is another one than in known_hosts: somebody may be in between. If the key was changed on purpose, remove the old one with ssh-keygen -R "+r.address.Host+" and add the new one")
	case knownhosts.IsHostUnknown(err), errors.Is(err, errNoKnownHosts):
		return r.problem(ErrHostKey, "its key is not in known_hosts: add it with "+scan+" and compare it with what its operator publishes")
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return r.problem(ErrNotRepository, "the server does not know it: check the remote and who may read it")
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed),
		strings.Contains(err.Error(), "ssh: unable to authenticate"):
		return r.problem(ErrAuth, "set git.username and git.password, or git.sshKeyFile, in the piped configuration")
	}
	return nil
}
