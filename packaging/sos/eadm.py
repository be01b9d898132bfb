# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugin for sos report: a support bundle of eadm.

Goes to sos/report/plugins/ of Python's packages. "sos clean" does not look into
a bundle; "eadm bundle create --redact" is the way to have pseudonyms in it.
"""

from sos.report.plugins import (Plugin, DebianPlugin, RedHatPlugin, SuSEPlugin,
                                UbuntuPlugin)


class Eadm(Plugin, DebianPlugin, RedHatPlugin, SuSEPlugin, UbuntuPlugin):

    short_desc = 'RDMA adapters: support bundle of eadm'

    plugin_name = 'eadm'
    profiles = ('hardware', 'network')
    packages = ('eadm',)
    commands = ('eadm',)

    def setup(self):
        bundle = f"{self.get_cmd_output_path()}/eadm.tar.zst"
        # Its time limit is shorter than the one that sos sets for a command.
        self.add_cmd_output(f"eadm bundle create -i 1s --max-time 60s -o {bundle}",
                            suggest_filename="eadm_bundle_create", timeout=90)
        self.add_cmd_output("eadm ver")
