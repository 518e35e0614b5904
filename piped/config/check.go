// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/patternmatcher"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

// checkPiped checks what no single key shows.
func checkPiped(d *decoder, p *Piped) {
	if len(p.Plugins) == 0 && len(d.v0) > 0 {
		oldVersion(d, d.v0[0].Field) // Nothing that the file asks for would run.
	} else {
		d.warnings = append(d.warnings, d.v0...)
	}
	d.httpURL("spec.webAddress", p.WebAddress)
	d.exactlyOne("spec", "pipedKeyFile", p.PipedKeyFile, "pipedKeyData", p.PipedKeyData)
	d.base64("spec.pipedKeyData", p.PipedKeyData)
	checkReadable(d, "spec.name", p.Name)
	d.identifier("spec.projectID", p.ProjectID, ",")
	d.identifier("spec.pipedID", p.PipedID, ",")
	checkAPIAddress(d, p.APIAddress)
	d.identifier("spec.git.username", p.Git.Username, "<>")
	d.identifier("spec.git.email", p.Git.Email, "<>")
	d.host("spec.git.host", p.Git.Host)
	d.host("spec.git.hostName", p.Git.HostName)
	checkGitLogin(d, "spec.git", p.Git.Password, p.Git.SSHKeyFile, p.Git.SSHKeyData)
	repositories := newUnique(d)
	for i, repository := range p.Repositories {
		at := fmt.Sprintf("spec.repositories[%d]", i)
		repositories.add(at+".repoId", repository.RepoID)
		d.repositoryID(at+".repoId", repository.RepoID)
		checkSource(d, at, repository)
		if own := repository.Git; own != nil {
			checkGitLogin(d, at+".git", own.Password, own.SSHKeyFile, own.SSHKeyData)
		}
	}
	checkPlugins(d, p)
	checkNotifications(d, p.Notifications)
	if p.SecretManagement != nil {
		checkSecretManagement(d, p.SecretManagement)
	}
	unique := newUnique(d)
	for i, repository := range p.EventWatcher.GitRepos {
		field := fmt.Sprintf("spec.eventWatcher.gitRepos[%d].repoId", i)
		unique.add(field, repository.RepoID)
		if _, ok := p.FindRepository(repository.RepoID); !ok && repository.RepoID != "" &&
			!slices.Contains(d.repositories, repository.RepoID) {
			d.authorf(field, "%q is not among spec.repositories%s", shorten(repository.RepoID),
				suggestion(repository.RepoID, repositories.values()))
		}
		checkMessage(d, fmt.Sprintf("spec.eventWatcher.gitRepos[%d].commitMessage", i), repository.CommitMessage)
		d.patterns(fmt.Sprintf("spec.eventWatcher.gitRepos[%d].includes", i), repository.Includes)
		d.patterns(fmt.Sprintf("spec.eventWatcher.gitRepos[%d].excludes", i), repository.Excludes)
	}
}

func checkAPIAddress(d *decoder, address string) {
	if address == "" {
		return
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || strings.ContainsAny(host, " \t/@") {
		d.fieldf("spec.apiAddress", "%q is not host:port", shorten(address))
		return
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		d.fieldf("spec.apiAddress", "%q is not a TCP port: want 1 to 65535", shorten(port))
	}
}

// checkSource checks where a repository is. Package git refuses the same by the same rules.
func checkSource(d *decoder, at string, r Repository) {
	if r.Remote != "" {
		if _, err := address.Parse(r.Remote); err != nil {
			d.fieldf(at+".remote", "%s", err)
		}
	}
	if r.Branch != "" {
		if err := address.CheckBranch(r.Branch); err != nil {
			d.fieldf(at+".branch", "%s", err)
		}
	}
}

func checkSecretManagement(d *decoder, s *SecretManagement) {
	const at = "spec.secretManagement.config"
	switch s.Type {
	case "KEY_PAIR":
		d.exactlyOne(at, "privateKeyFile", s.Config.PrivateKeyFile, "privateKeyData", s.Config.PrivateKeyData)
		d.exactlyOne(at, "publicKeyFile", s.Config.PublicKeyFile, "publicKeyData", s.Config.PublicKeyData)
	case "AGE":
		d.exactlyOne(at, "identityFile", s.Config.IdentityFile, "identityData", s.Config.IdentityData)
	case "GCP_KMS":
		d.warnf(d.place("spec.secretManagement.type"), "spec.secretManagement.type",
			"GCP_KMS is not implemented; secrets are not decrypted")
	}
	d.base64(at+".privateKeyData", s.Config.PrivateKeyData)
	d.base64(at+".publicKeyData", s.Config.PublicKeyData)
	d.base64(at+".identityData", s.Config.IdentityData)
}

func checkPlugins(d *decoder, p *Piped) {
	checkPluginIndex(d, p.PluginIndex)
	names, ports, stages := newUnique(d), newUnique(d), newUnique(d)
	for i, plugin := range p.Plugins {
		at := fmt.Sprintf("spec.plugins[%d]", i)
		names.add(at+".name", plugin.Name)
		if plugin.Name != "" && !IsPluginName(plugin.Name) {
			d.fieldf(at+".name", "%q is not the name of a plugin: want at most 100 letters, digits, dots, dashes "+
				"and underscores, the first one a letter or digit", shorten(plugin.Name))
		}
		if plugin.Port != 0 {
			ports.add(at+".port", fmt.Sprint(plugin.Port))
		}
		if plugin.Port < 0 || plugin.Port > 65535 {
			d.fieldf(at+".port", "%d is not a TCP port: want 1 to 65535, or 0 to have one chosen", plugin.Port)
		}
		checkPluginBinary(d, at, plugin, p.PluginIndex)
		checkLimits(d, at+".limits", plugin.Limits)
		checkStages(d, at+".stages", plugin.Stages, stages)
		checkTargets(d, at+".deployTargets", plugin.DeployTargets)
	}
}

func checkNotifications(d *decoder, n Notifications) {
	names := newUnique(d)
	for i, receiver := range n.Receivers {
		at := fmt.Sprintf("spec.notifications.receivers[%d]", i)
		names.add(at+".name", receiver.Name)
		if (receiver.Slack == nil) == (receiver.Webhook == nil) {
			d.needs(at, []string{"slack", "webhook"}, "needs exactly one of slack and webhook")
		}
		if s := receiver.Slack; s != nil {
			checkSlack(d, at+".slack", s)
		}
		if w := receiver.Webhook; w != nil {
			d.postURL(at+".webhook.url", w.URL)
			d.atMostOne(at+".webhook", "signatureValue", w.SignatureValue, "signatureValueFile", w.SignatureValueFile)
		}
	}
	for i, route := range n.Routes {
		if route.Receiver != "" && !names.has(route.Receiver) {
			d.fieldf(fmt.Sprintf("spec.notifications.routes[%d].receiver", i),
				"%q is not among spec.notifications.receivers%s",
				shorten(route.Receiver), suggestion(route.Receiver, names.values()))
		}
	}
}

func checkSlack(d *decoder, at string, s *SlackTarget) {
	tokens := 0
	for _, token := range []string{s.OAuthToken, s.OAuthTokenData, s.OAuthTokenFile} {
		if token != "" {
			tokens++
		}
	}
	switch {
	case tokens > 1:
		d.fieldf(at, "needs only one of oauthToken, oauthTokenData and oauthTokenFile")
	case (s.HookURL == "") == (tokens == 0):
		d.needs(at, []string{"hookURL", "oauthToken", "oauthTokenData", "oauthTokenFile"},
			"needs either hookURL, or an oauth token with channelID")
	case tokens == 1 && s.ChannelID == "":
		d.needs(at+".channelID", []string{"channelID"}, "is required with an oauth token")
	}
	d.postURL(at+".hookURL", s.HookURL)
	if s.OAuthToken != "" {
		d.warnf(d.place(at+".oauthToken"), at+".oauthToken", "is deprecated; use oauthTokenData or oauthTokenFile")
	}
	d.base64(at+".oauthTokenData", s.OAuthTokenData)
}

func (d *decoder) fieldf(field, format string, args ...any) {
	if !d.failed(field) {
		d.errorf(d.place(field), field, format, args...)
	}
}

// authorf is fieldf for what authors have to correct and agents live with, as PipeCD does: a warning to them.
func (d *decoder) authorf(field, format string, args ...any) {
	if !d.failed(field) {
		d.note(&d.unread, d.place(field), field, format, args)
	}
}

// needs is fieldf for the absence of a key, which is one of the names.
func (d *decoder) needs(field string, names []string, format string, args ...any) {
	if !d.failed(field) {
		d.missing(d.place(field), field, names, format, args...)
	}
}

// filled refuses names without a value, as PipeCD does.
func (d *decoder) filled(field string, values map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if at := join(field, name); name == "" || values[name] == "" {
			d.fieldf(at, "is empty: want a name and a value")
		}
	}
}

func (d *decoder) exactlyOne(parent, a, aValue, b, bValue string) {
	if aValue == "" && bValue == "" && !d.failed(parent+"."+a) && !d.failed(parent+"."+b) {
		d.needs(parent, []string{a, b}, "needs %s or %s", a, b)
	}
	d.atMostOne(parent, a, aValue, b, bValue)
}

func (d *decoder) atMostOne(parent, a, aValue, b, bValue string) {
	if aValue != "" && bValue != "" {
		d.fieldf(parent+"."+b, "cannot be used together with %s", a)
	}
}

func (d *decoder) base64(field, value string) {
	if _, err := base64.StdEncoding.DecodeString(value); err != nil {
		d.fieldf(field, "is not valid base64") // The value is a secret: not shown.
	}
}

// httpURL warns, because piped itself works without what is behind the address. The address is not
// shown: it may hold a secret.
func (d *decoder) httpURL(field, address string) {
	if address != "" && !isHTTP(address) {
		d.warnf(d.place(field), field, "is not an http:// or https:// URL")
	}
}

// postURL refuses what nothing can be posted to.
func (d *decoder) postURL(field, address string) {
	if address != "" && !isHTTP(address) {
		d.fieldf(field, "is not an http:// or https:// URL")
	}
}

func isHTTP(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && parsed.Host != "" && (parsed.Scheme == "http" || parsed.Scheme == "https")
}

func (d *decoder) regexp(field, pattern string) {
	if _, err := regexp.Compile(pattern); err != nil {
		d.fieldf(field, "%q is not a regular expression: %v", shorten(pattern), err)
	}
}

func (d *decoder) patterns(field string, patterns []string) {
	for i, pattern := range patterns {
		matcher, err := patternmatcher.New([]string{pattern})
		if err == nil {
			_, err = matcher.MatchesOrParentMatches("a/b") // Compiles the pattern.
		}
		if err != nil || strings.TrimSpace(pattern) == "" {
			d.fieldf(fmt.Sprintf("%s[%d]", field, i), "%q is not a path pattern: want the form of .dockerignore, "+
				"such as \"manifests/**\"", shorten(pattern))
		}
	}
}

// repositoryPatterns are patterns for paths that begin at the root of the repository.
func (d *decoder) repositoryPatterns(field string, patterns []string) {
	d.patterns(field, patterns)
	for i, pattern := range patterns {
		if wanted := strings.TrimPrefix(strings.TrimSpace(pattern), "!"); leaves(wanted) {
			at := fmt.Sprintf("%s[%d]", field, i)
			d.warnf(d.place(at), at, "%q matches no file: patterns are relative to the root of the repository",
				shorten(pattern))
		}
	}
}

func (d *decoder) inside(field string, names []string) {
	for i, name := range names {
		d.insideOne(fmt.Sprintf("%s[%d]", field, i), name)
	}
}

// insideOne refuses paths that leave the application directory.
func (d *decoder) insideOne(field, name string) {
	if leaves(name) {
		d.fieldf(field, "%q is outside of the application directory", shorten(name))
	} else if path.Clean(name) == "." {
		d.authorf(field, "%q is not the path of a file", shorten(name))
	}
}

// leaves reports whether a relative path, or pattern, leads out of the directory that it begins in.
func leaves(name string) bool {
	clean := path.Clean(name)
	return path.IsAbs(name) || clean == ".." || strings.HasPrefix(clean, "../")
}

// unique notes a second use of a value.
type unique struct {
	d    *decoder
	seen map[string]string
}

func newUnique(d *decoder) *unique { return &unique{d: d, seen: map[string]string{}} }

// values returns the values in alphabetical order.
func (u *unique) values() []string { return slices.Sorted(maps.Keys(u.seen)) }

func (u *unique) has(value string) bool { return u.seen[value] != "" }

func (u *unique) add(field, value string) {
	if value == "" {
		return
	}
	if first, ok := u.seen[value]; ok {
		u.d.fieldf(field, "%q is used already by %s", shorten(value), first)
		return
	}
	u.seen[value] = field
}
