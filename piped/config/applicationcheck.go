// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"unicode"
)

// checkApplication checks what no single key shows.
func checkApplication(d *decoder, a *Application, kind string) {
	if kind != KindApplication && len(a.Plugins) == 0 && (len(d.v0) > 0 || a.Pipeline == nil) {
		oldVersion(d, "kind") // No plugin would deploy it, or without its settings.
	} else {
		d.warnings = append(d.warnings, d.v0...)
	}
	checkReadable(d, "spec.name", a.Name)
	d.regexp("spec.commitMatcher.pipeline", a.CommitMatcher.Pipeline)
	d.regexp("spec.commitMatcher.quickSync", a.CommitMatcher.QuickSync)
	d.repositoryPatterns("spec.trigger.onCommit.paths", a.Trigger.OnCommit.Paths)
	d.repositoryPatterns("spec.trigger.onCommit.ignores", a.Trigger.OnCommit.Ignores)
	checkPipeline(d, a.Pipeline)
	if retry := a.Trigger.Retry; retry != nil && retry.Limit > MaxRetries {
		d.fieldf("spec.trigger.retry.limit", "%d is not allowed here: want at most %d", retry.Limit, MaxRetries)
	}
	if a.PostSync != nil && a.PostSync.Chain != nil {
		for i, matcher := range a.PostSync.Chain.Applications {
			if matcher.Name == "" && matcher.Kind == "" && len(matcher.Labels) == 0 {
				d.needs(fmt.Sprintf("spec.postSync.chain.applications[%d]", i), []string{"name", "kind", "labels"},
					"needs at least one of name, kind and labels")
			}
			if matcher.Name != "" && matcher.Name == a.Name {
				d.authorf(fmt.Sprintf("spec.postSync.chain.applications[%d].name", i), "%q is this application "+
					"itself, the first of the chain: want the applications that are deployed after it",
					shorten(matcher.Name))
			}
		}
	}
	if a.Encryption != nil {
		d.inside("spec.encryption.decryptionTargets", a.Encryption.DecryptionTargets)
		d.filled("spec.encryption.encryptedSecrets", a.Encryption.EncryptedSecrets)
	}
	if a.Attachment != nil {
		d.inside("spec.attachment.targets", a.Attachment.Targets)
		d.filled("spec.attachment.sources", a.Attachment.Sources)
		for name, source := range a.Attachment.Sources {
			d.insideOne(join("spec.attachment.sources", name), source)
		}
	}
	for i, rule := range a.EventWatcher {
		if d.failed(fmt.Sprintf("spec.eventWatcher[%d]", i)) {
			continue // which is no mapping
		}
		if rule.Matcher.Name == "" && !d.failed(fmt.Sprintf("spec.eventWatcher[%d].matcher.name", i)) {
			d.needs(fmt.Sprintf("spec.eventWatcher[%d].matcher", i), []string{"name"}, "needs the name of an event")
		}
		at := fmt.Sprintf("spec.eventWatcher[%d].handler.config", i)
		checkMessage(d, at+".commitMessage", rule.Handler.Config.CommitMessage)
		checkReplacements(d, at+".replacements", rule.Handler.Config.Replacements)
	}
	if a.DriftDetection != nil {
		for i, field := range a.DriftDetection.IgnoreFields {
			at := fmt.Sprintf("spec.driftDetection.ignoreFields[%d]", i)
			if !strings.Contains(field, "#") {
				d.fieldf(at, "%q is not of the form apiVersion:kind:namespace:name#path", shorten(field))
			} else if resource, path, _ := strings.Cut(field, "#"); strings.Count(resource, ":") < 3 || path == "" {
				d.authorf(at, "%q is not of the form apiVersion:kind:namespace:name#path", shorten(field))
			}
		}
	}
}

// oldVersion is the one thing to say of a file that PipeCD v0 reads and v1 does not.
func oldVersion(d *decoder, field string) {
	d.v0 = nil
	d.note(&d.v0, d.place(field), field, "this is PipeCD v0 configuration; run: pipedeck migrate %s",
		[]any{shellWord(d.file)})
	d.errors = append(d.errors, d.v0...)
}

// shellWord writes a path as one word of a command.
func shellWord(path string) string {
	if path != "" && !strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+,:@%=", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
