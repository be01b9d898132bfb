// SPDX-License-Identifier: GPL-2.0-or-later
/* What a VMM finds: version, configuration space, regions, interrupts, reset. */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static struct bench bench;
static struct client *const vmm = &bench.client;

static int negotiate(uint16_t major, uint16_t minor, const char *text, size_t size,
		     char *reply, size_t room)
{
	char body[512];
	struct proto_version version = { major, minor };

	memcpy(body, &version, sizeof(version));
	memcpy(body + sizeof(version), text, size);
	return client_call(vmm, PROTO_VERSION, 0, body, sizeof(version) + size, NULL, 0,
			   reply, room);
}

/* Refused, and the connection is ended. */
static bool turned_away(uint16_t major, const char *text, size_t size, int error)
{
	char reply[512];
	int ret;

	bench_reconnect(&bench, false);
	ret = negotiate(major, 0, text, size, reply, sizeof(reply));
	return ret == -error && client_ended(vmm) && !bench.dummy.came;
}

static void versions(void)
{
	static const char few[] = "{\"capabilities\":{\"max_dma_maps\":16,\"unknown\":[1]}}";
	char reply[512], deep[300];
	struct proto_version version;
	int size;

	bench_open(&bench, false);
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	ok(turned_away(1, "", 0, EPROTONOSUPPORT), "another major version is turned away");
	ok(turned_away(0, "{", 2, EINVAL), "as are halves of JSON");
	ok(turned_away(0, "{}", 2, EINVAL), "JSON without its NUL");
	ok(turned_away(0, "[]", 3, EINVAL), "JSON that is no object");
	ok(turned_away(0, "{\"capabilities\":3}", 19, EINVAL), "capabilities that are none");
	ok(turned_away(0, deep, sizeof(deep), EINVAL), "JSON without a bottom");
	ok(turned_away(0, "{}\0{}", 6, EINVAL), "and two texts for one");

	bench_reconnect(&bench, false);
	size = negotiate(0, 7, "", 0, reply, sizeof(reply));
	memcpy(&version, reply, sizeof(version));
	ok(size > 0 && !version.major && version.minor == PROTO_MINOR &&
		   !strcmp(reply + sizeof(version), "{\"capabilities\":{}}"),
	   "a later minor version gets ours, and no capability that it did not offer");
	ok(bench.dummy.came == 1 && negotiate(0, 0, "", 0, reply, sizeof(reply)) == -EEXIST &&
		   !client_ended(vmm),
	   "a second negotiation is refused, the first holds");

	bench_reconnect(&bench, false);
	size = negotiate(0, 0, few, sizeof(few), reply, sizeof(reply));
	memcpy(&version, reply, sizeof(version));
	ok(size > 0 && !version.minor &&
		   !strcmp(reply + sizeof(version), "{\"capabilities\":{\"max_dma_maps\":16}}"),
	   "a limit below ours is kept, the unknown is left out");
	bench_close(&bench);
}

static uint32_t config(uint32_t at, unsigned int size)
{
	uint32_t value = 0;

	return client_read(vmm, CONFIG_REGION, at, &value, size) ? ~0u : value;
}

static bool set_config(uint32_t at, uint32_t value, unsigned int size)
{
	return !client_write(vmm, CONFIG_REGION, at, &value, size);
}

static uint32_t bar_mask(unsigned int number)
{
	uint32_t at = PCI_BASE_ADDRESS_0 + 4 * number, mask, before = config(at, 4);

	set_config(at, ~0u, 4);
	mask = config(at, 4);
	set_config(at, before, 4);
	return mask;
}

static void configuration(void)
{
	uint32_t msix;

	bench_open(&bench, true);
	ok(config(PCI_VENDOR_ID, 4) == (DUMMY_DEVICE << 16 | DUMMY_VENDOR) &&
		   config(PCI_CLASS_REVISION, 4) == 0x02800002 &&
		   config(PCI_SUBSYSTEM_VENDOR_ID, 4) == (1 << 16 | DUMMY_VENDOR),
	   "ids and class");
	ok(bar_mask(0) == ~(DUMMY_BAR_SIZE - 1u) && bar_mask(1) == ~(DUMMY_BAR_SIZE - 1u) &&
		   bar_mask(2) == (~((1u << 20) - 1) | 0xc) && bar_mask(3) == ~0u &&
		   !bar_mask(4) && !bar_mask(5) && !config(PCI_ROM_ADDRESS, 4),
	   "sizes of BARs, of which one has 64 bits");
	set_config(PCI_BASE_ADDRESS_0 + 8, 0xfe123456, 4);
	ok(config(PCI_BASE_ADDRESS_0 + 8, 4) == 0xfe10000c, "bits below a BAR's size stay");
	set_config(PCI_VENDOR_ID, 0, 4);
	set_config(PCI_STATUS, 0xffff, 2);
	ok(config(PCI_VENDOR_ID, 2) == DUMMY_VENDOR &&
		   config(PCI_STATUS, 2) == PCI_STATUS_CAP_LIST,
	   "what is read-only stays");
	msix = config(PCI_CAPABILITY_LIST, 1);
	ok(config(msix, 2) == PCI_CAP_ID_MSIX &&
		   config(msix + PCI_MSIX_FLAGS, 2) == DUMMY_VECTORS - 1 &&
		   config(msix + PCI_MSIX_TABLE, 4) == 0 &&
		   config(msix + PCI_MSIX_PBA, 4) == DUMMY_PBA,
	   "one capability, MSI-X");
	set_config(msix + PCI_MSIX_FLAGS, 0xffff, 2);
	ok(config(msix + PCI_MSIX_FLAGS, 2) == (0xc000 | (DUMMY_VECTORS - 1)),
	   "which can be enabled and masked");
	bench_enable(&bench);
	ok(bench.dummy.commands == 1 && bench.dummy.mastering && bench.dummy.memory,
	   "the function learns of bus mastering");
	set_config(PCI_COMMAND, 0x406, 2);
	ok(bench.dummy.commands == 1, "and not of other bits");
	ok(config(252, 4) == 0 && client_read(vmm, CONFIG_REGION, 253, &msix, 4) == -EINVAL,
	   "there is nothing behind the end");
	bench_close(&bench);
}

static bool refused(const struct vfio_function *function)
{
	int fds[2];

	if (pipe(fds))
		return false;
	close(fds[1]);
	return !vfio_open_fd(fds[0], function, &dummy_ops, NULL) && errno == EINVAL;
}

static void descriptions(void)
{
	struct vfio_function function = dummy_function;

	function.bars[1].size = 4097;
	ok(refused(&function), "a BAR whose size is no power of two is refused");
	function = dummy_function;
	function.bars[3].kind = VFIO_BAR_MEM32;
	function.bars[3].size = PAGE;
	ok(refused(&function), "as is one in the second half of another");
	function = dummy_function;
	function.vectors = VFIO_MAX_VECTORS + 1;
	ok(refused(&function), "more vectors than there may be");
	function = dummy_function;
	function.pba_offset = 40;
	ok(refused(&function), "pending bits in the MSI-X table");
	function = dummy_function;
	function.table_bar = 4;
	ok(refused(&function), "and an MSI-X table in no BAR");
}

static void information(void)
{
	struct proto_device_info device = { .argsz = sizeof(device) };
	struct vfio_region_info region = { .argsz = sizeof(region), .index = 2 };
	struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };
	int ret;

	bench_open(&bench, true);
	ret = client_call(vmm, PROTO_DEVICE_GET_INFO, 0, &device, sizeof(device), NULL, 0,
			  &device, sizeof(device));
	ok(ret == sizeof(device) && device.flags == 3 && device.num_regions == 9 &&
		   device.num_irqs == 5,
	   "a PCI device that can be reset");
	ret = client_call(vmm, PROTO_DEVICE_GET_REGION_INFO, 0, &region, sizeof(region),
			  NULL, 0, &region, sizeof(region));
	ok(ret == sizeof(region) && region.flags == 3 && region.size == 1 << 20,
	   "a region to be read and written, not mapped");
	region.index = 6;
	ret = client_call(vmm, PROTO_DEVICE_GET_REGION_INFO, 0, &region, sizeof(region),
			  NULL, 0, &region, sizeof(region));
	ok(ret == sizeof(region) && !region.flags && !region.size, "one that is not there");
	region.index = 9;
	ok(client_call(vmm, PROTO_DEVICE_GET_REGION_INFO, 0, &region, sizeof(region), NULL,
		       0, &region, sizeof(region)) == -EINVAL,
	   "and one that cannot be");
	ret = client_call(vmm, PROTO_DEVICE_GET_IRQ_INFO, 0, &irq, sizeof(irq), NULL, 0,
			  &irq, sizeof(irq));
	ok(ret == sizeof(irq) && irq.count == DUMMY_VECTORS &&
		   irq.flags == (VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE),
	   "vectors");
	bench_close(&bench);
}

static void accesses(void)
{
	unsigned char bytes[64];
	uint64_t wide = 0;
	struct vfio_stats stats;
	uint32_t word;

	bench_open(&bench, true);
	ok(client_read32(vmm, 1, DUMMY_ID) == DUMMY_ID_VALUE, "a register is read");
	client_write32(vmm, 1, DUMMY_COMPLEMENT, 5);
	ok(client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~5u, "and written");
	ok(!client_read(vmm, 1, 1, bytes, 7) && !memcmp(bytes, "adm\xfa\xff\xff\xff", 7) &&
		   bench.dummy.largest == 4,
	   "an access across registers is divided into aligned ones");
	ok(!client_read(vmm, 1, 8, &wide, 8) && bench.dummy.largest == 8, "8 bytes are not");
	ok(client_write(vmm, 1, 4, bytes, 2) == -EINVAL, "the function may refuse");
	ok(client_read(vmm, 1, PAGE - 2, bytes, 4) == -EINVAL &&
		   client_read(vmm, 1, UINT64_MAX, bytes, 4) == -EINVAL &&
		   client_read(vmm, 3, 0, bytes, 4) == -EINVAL &&
		   client_read(vmm, 6, 0, bytes, 4) == -EINVAL &&
		   client_read(vmm, 77, 0, bytes, 4) == -EINVAL &&
		   client_read(vmm, 1, 0, bytes, 0) == -EINVAL,
	   "accesses to where nothing is are refused");
	memset(bytes, 0x5a, sizeof(bytes));
	ok(!client_write(vmm, 0, 0, bytes, DUMMY_VECTORS * 16) &&
		   !client_read(vmm, 0, 0, bytes + 8, 8) && bytes[8] == 0x5a &&
		   client_read32(vmm, 0, DUMMY_VECTORS * 16) == 0,
	   "the MSI-X table keeps what is written to it");
	word = 1;
	client_write(vmm, 0, DUMMY_PBA, &word, 4);
	ok(client_read32(vmm, 0, DUMMY_PBA) == 0, "pending bits cannot be written");
	vfio_stats(bench.dummy.vfio, &stats);
	ok(stats.posted[1] == 0 && stats.writes[1] == 2 && stats.refused == 7,
	   "all of it is counted");
	bench_close(&bench);
}

static void posted(void)
{
	struct {
		struct proto_access access;
		uint32_t value;
	} write = { { DUMMY_COMPLEMENT, 1, 4 }, 9 };
	struct {
		uint64_t count;
		struct proto_multi_write writes[3];
	} multi = { .count = 3 };
	uint64_t done = 0;
	unsigned int i;

	bench_open(&bench, true);
	client_call(vmm, PROTO_REGION_WRITE, PROTO_NO_REPLY, &write, 20, NULL, 0, NULL, 0);
	ok(client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~9u &&
		   client_read32(vmm, 1, DUMMY_POSTED) == 1,
	   "a posted write has no reply, and is counted");
	for (i = 0; i < 3; i++) {
		multi.writes[i].access = (struct proto_access){ DUMMY_COMPLEMENT, 1, 4 };
		memcpy(multi.writes[i].data, &i, 4);
	}
	ok(client_call(vmm, PROTO_REGION_WRITE_MULTI, 0, &multi, sizeof(multi), NULL, 0,
		       &done, 8) == 8 &&
		   done == 3 && client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~2u &&
		   client_read32(vmm, 1, DUMMY_WRITES) == 4,
	   "several writes in one message, in order");
	multi.writes[1].access.count = 9;
	ok(client_call(vmm, PROTO_REGION_WRITE_MULTI, 0, &multi, sizeof(multi), NULL, 0,
		       &done, 8) == 8 && done == 1,
	   "end with the one that is wrong");
	multi.count = UINT64_MAX / 24 + 2;
	ok(client_call(vmm, PROTO_REGION_WRITE_MULTI, 0, &multi, sizeof(multi), NULL, 0,
		       &done, 8) == -EINVAL,
	   "a count that the message does not have is refused");
	bench_close(&bench);
}

#define EVENTS (VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER)
#define MSIX VFIO_PCI_MSIX_IRQ_INDEX

static int plain(uint32_t action, uint32_t start, uint32_t count)
{
	return client_irqs(vmm, MSIX, VFIO_IRQ_SET_DATA_NONE | action, start, count, NULL,
			   NULL, 0);
}

static void interrupts(void)
{
	int events[DUMMY_VECTORS] = { bench_event(), bench_event(), bench_event() };
	struct vfio *vfio;
	const uint8_t second[3] = { 0, 1, 0 };

	bench_open(&bench, true);
	vfio = bench.dummy.vfio;
	ok(vfio_interrupt(vfio, DUMMY_VECTORS) == -EINVAL &&
		   vfio_interrupt(vfio, 0) == -ENOTCONN,
	   "a vector that is not, and one that is not enabled");
	ok(!client_irqs(vmm, MSIX, EVENTS, 0, 3, NULL, events, 3) &&
		   vfio_interrupt(vfio, 1) == -ENOTCONN && !bench_events(events[1]),
	   "without bus mastering none is sent");
	bench_enable(&bench);
	ok(!vfio_interrupt(vfio, 1) && bench_events(events[1]) == 1 &&
		   !bench_events(events[0]) && !bench_events(events[2]),
	   "one is sent by its descriptor");
	ok(!plain(VFIO_IRQ_SET_ACTION_MASK, 1, 1) && !vfio_interrupt(vfio, 1) &&
		   !vfio_interrupt(vfio, 1) && !bench_events(events[1]) &&
		   client_read32(vmm, 0, DUMMY_PBA) == 2,
	   "a masked one is pending");
	ok(!plain(VFIO_IRQ_SET_ACTION_UNMASK, 0, 3) && bench_events(events[1]) == 1 &&
		   !client_read32(vmm, 0, DUMMY_PBA),
	   "and comes when the mask goes, once");
	ok(!client_irqs(vmm, MSIX, VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 3,
			second, NULL, 0) &&
		   bench_events(events[1]) == 1 && !bench_events(events[0]),
	   "the client itself can trigger one");
	ok(!client_irqs(vmm, MSIX, EVENTS, 1, 1, NULL, NULL, 0) &&
		   vfio_interrupt(vfio, 1) == -ENOTCONN && !vfio_interrupt(vfio, 2),
	   "one is taken back");
	ok(!plain(VFIO_IRQ_SET_ACTION_TRIGGER, 0, 0) && vfio_interrupt(vfio, 2) == -ENOTCONN,
	   "and all of them");
	ok(vfio_unplug(vfio) == -ENOTCONN &&
		   !client_irqs(vmm, VFIO_PCI_REQ_IRQ_INDEX, EVENTS, 0, 1, NULL, events, 1) &&
		   !vfio_unplug(vfio) && bench_events(events[0]) >= 1,
	   "the client is asked to give the device back");
	bench_close(&bench);
	close(events[0]);
	close(events[1]);
	close(events[2]);
}

static void resets(void)
{
	int event = bench_event();
	struct vfio *vfio;

	bench_open(&bench, true);
	vfio = bench.dummy.vfio;
	bench_map(&bench);
	client_irqs(vmm, MSIX, EVENTS, 0, 1, NULL, &event, 1);
	client_write32(vmm, 1, DUMMY_COMPLEMENT, 1);
	ok(!client_call(vmm, PROTO_DEVICE_RESET, 0, NULL, 0, NULL, 0, NULL, 0) &&
		   bench.dummy.resets == 1 && client_read32(vmm, 1, DUMMY_COMPLEMENT) == ~0u &&
		   !config(PCI_COMMAND, 2),
	   "a reset is passed on and clears the command register");
	ok(!vfio_dma(vfio, 0, 1, false) && errno == EPERM && vfio_interrupt(vfio, 0) == -ENOTCONN,
	   "bus mastering is off");
	bench_enable(&bench);
	ok(vfio_dma(vfio, 0, 1, false) && !vfio_interrupt(vfio, 0) && bench_events(event) == 1 &&
		   !bench.dummy.unmapped,
	   "memory and interrupts are as before once it is on");
	bench_close(&bench);
	close(event);
}

int main(void)
{
	versions();
	configuration();
	descriptions();
	information();
	accesses();
	posted();
	interrupts();
	resets();
	return done();
}
